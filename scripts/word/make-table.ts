import {
  AlignmentType,
  BorderStyle,
  LineRuleType,
  Paragraph,
  ShadingType,
  Table,
  TableCell,
  TableLayoutType,
  TableRow,
  WidthType,
} from 'docx';
import type { Tokens } from 'marked';
import { inlineRuns } from './inline-runs.js';
import { CODE_BACKGROUND, LINE_COLOR, TEXT_WIDTH } from './styles.js';

/** Half points; tables with many columns are set smaller, so that they fit the page. */
const SIZES = [
  { columns: 6, size: 17 },
  { columns: 9, size: 14 },
  { columns: Number.POSITIVE_INFINITY, size: 12 },
] as const;
/** No column counts as wider than so many letters; none gets narrower than its longest word and a margin. */
const WIDEST = 30;
const MARGIN = 4;

/** A table as wide as the text; columns share the width by their longest words and lines. */
export function makeTable({ header, rows, align }: Tokens.Table): Table {
  const size = SIZES.find(({ columns }) => header.length <= columns)?.size ?? 12;
  const widths = columnWidths([header, ...rows].map((row) => row.map(({ text }) => text)));
  const line = { style: BorderStyle.SINGLE, size: 4, color: LINE_COLOR };
  const cell = (content: Tokens.TableCell, at: number, bold: boolean) =>
    new TableCell({
      width: { size: widths[at] ?? 0, type: WidthType.DXA },
      margins: { top: 40, bottom: 40, left: 70, right: 70 },
      ...(bold ? { shading: { type: ShadingType.CLEAR, fill: CODE_BACKGROUND } } : {}),
      children: [
        new Paragraph({
          spacing: { after: 0, line: 240, lineRule: LineRuleType.AUTO },
          alignment: align[at] === 'right' ? AlignmentType.RIGHT : AlignmentType.LEFT,
          children: inlineRuns(content.tokens, { size, bold }),
        }),
      ],
    });
  return new Table({
    width: { size: TEXT_WIDTH, type: WidthType.DXA },
    columnWidths: [...widths],
    layout: TableLayoutType.FIXED,
    borders: {
      top: line,
      bottom: line,
      left: line,
      right: line,
      insideHorizontal: line,
      insideVertical: line,
    },
    rows: [
      new TableRow({
        tableHeader: true,
        cantSplit: true,
        children: header.map((c, at) => cell(c, at, true)),
      }),
      ...rows.map(
        (row) => new TableRow({ cantSplit: true, children: row.map((c, at) => cell(c, at, false)) }),
      ),
    ],
  });
}

function columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
  const letters = (rows[0] ?? []).map((_, at) => {
    const cells = rows.map((row) => row[at] ?? '');
    const longest = Math.max(...cells.map((text) => text.length));
    const longestWord = Math.max(...cells.flatMap((text) => text.split(' ').map((word) => word.length)));
    return Math.max(longestWord, Math.min(WIDEST, longest)) + MARGIN;
  });
  const total = letters.reduce((sum, count) => sum + count, 0);
  return letters.map((count) => Math.floor((TEXT_WIDTH * count) / total));
}
