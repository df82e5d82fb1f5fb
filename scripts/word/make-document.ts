import { AlignmentType, Document, Footer, LevelFormat, PageNumber, Paragraph, TextRun } from 'docx';
import type { Token } from 'marked';
import { makeBlocks } from './make-blocks.js';
import { PAGE, STYLES } from './styles.js';

/** A Word document from the blocks of a markdown text; pictures are found relative to `folder`. */
export function makeDocument(tokens: readonly Token[], folder: URL): Document {
  const footer = new Paragraph({
    alignment: AlignmentType.CENTER,
    children: [new TextRun({ size: 16, children: [PageNumber.CURRENT, ' / ', PageNumber.TOTAL_PAGES] })],
  });
  return new Document({
    title: 'WireBound',
    creator: 'WireBound',
    styles: STYLES,
    numbering: {
      config: [
        {
          reference: 'ordered',
          levels: [
            {
              level: 0,
              format: LevelFormat.DECIMAL,
              text: '%1.',
              alignment: AlignmentType.START,
              style: { paragraph: { indent: { left: 720, hanging: 360 } } },
            },
          ],
        },
      ],
    },
    sections: [
      {
        properties: { page: PAGE },
        footers: { default: new Footer({ children: [footer] }) },
        children: makeBlocks(tokens, folder),
      },
    ],
  });
}
