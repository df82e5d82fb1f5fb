import { readFileSync } from 'node:fs';
import {
  AlignmentType,
  type FileChild,
  HeadingLevel,
  ImageRun,
  Paragraph,
  type ParagraphChild,
  ShadingType,
  TextRun,
} from 'docx';
import type { Token, Tokens } from 'marked';
import { inlineRuns } from './inline-runs.js';
import { makeTable } from './make-table.js';
import { CODE_BACKGROUND, CODE_FONT, TEXT_WIDTH_PIXELS } from './styles.js';

const HEADINGS = [HeadingLevel.TITLE, HeadingLevel.HEADING_1, HeadingLevel.HEADING_2, HeadingLevel.HEADING_3];
/** Where a PNG file says how large it is (PNG specification, 11.2.2). */
const PNG_WIDTH = 16;
const PNG_HEIGHT = 20;

/** The blocks of a document; pictures are found relative to `folder`. Throws on a kind of block it does not know. */
export function makeBlocks(tokens: readonly Token[], folder: URL): FileChild[] {
  return tokens.flatMap((token): FileChild[] => {
    switch (token.type) {
      case 'space':
      case 'html': // the markers of figures
        return [];
      case 'heading': {
        const { depth, tokens: words } = token as Tokens.Heading;
        const heading = HEADINGS[depth - 1] ?? HeadingLevel.HEADING_4;
        return [new Paragraph({ heading, children: inlineRuns(words) })];
      }
      case 'paragraph':
        return paragraphs(token as Tokens.Paragraph, folder);
      case 'list':
        return listItems(token as Tokens.List);
      case 'code':
        return [codeBlock(token.text)];
      case 'table':
        return [makeTable(token as Tokens.Table), new Paragraph({ spacing: { after: 80 } })];
      default:
        throw new Error(`docs:word cannot set a ${token.type}: ${token.raw.slice(0, 60)}`);
    }
  });
}

function paragraphs({ tokens }: Tokens.Paragraph, folder: URL): FileChild[] {
  const [only] = tokens;
  if (tokens.length === 1 && only?.type === 'image') return picture(only as Tokens.Image, folder);
  return [new Paragraph({ children: inlineRuns(tokens) })];
}

/** A picture as wide as the text, with its description below. */
function picture({ href, text }: Tokens.Image, folder: URL): FileChild[] {
  const data = readFileSync(new URL(href, folder));
  const [width, height] = [data.readUInt32BE(PNG_WIDTH), data.readUInt32BE(PNG_HEIGHT)];
  const scale = Math.min(1, TEXT_WIDTH_PIXELS / width);
  const transformation = { width: Math.round(width * scale), height: Math.round(height * scale) };
  const altText = { name: href, title: text, description: text };
  const image: ParagraphChild = new ImageRun({ type: 'png', data, transformation, altText });
  return [
    new Paragraph({
      alignment: AlignmentType.CENTER,
      keepNext: true,
      spacing: { before: 120 },
      children: [image],
    }),
    new Paragraph({
      alignment: AlignmentType.CENTER,
      spacing: { after: 200 },
      children: [new TextRun({ text, italics: true, size: 18 })],
    }),
  ];
}

function listItems(list: Tokens.List): FileChild[] {
  return list.items.map((item) => {
    const words = item.tokens.flatMap((token) => ('tokens' in token ? (token.tokens ?? []) : []));
    const place = list.ordered ? { numbering: { reference: 'ordered', level: 0 } } : { bullet: { level: 0 } };
    return new Paragraph({ ...place, spacing: { after: 60 }, children: inlineRuns(words) });
  });
}

function codeBlock(text: string): Paragraph {
  return new Paragraph({
    shading: { type: ShadingType.CLEAR, fill: CODE_BACKGROUND },
    spacing: { before: 80, after: 160 },
    indent: { left: 120, right: 120 },
    children: text
      .split('\n')
      .map(
        (line, at) =>
          new TextRun({ text: line, font: CODE_FONT, size: 18, ...(at === 0 ? {} : { break: 1 }) }),
      ),
  });
}
