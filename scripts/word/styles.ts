import { type IStylesOptions, LineRuleType } from 'docx';

/** Page width between the margins of A4, twentieths of a point (the unit of widths in Word) and pixels for pictures. */
export const TEXT_WIDTH = 9638;
export const TEXT_WIDTH_PIXELS = 642;
export const PAGE = {
  size: { width: 11906, height: 16838 },
  margin: { top: 1134, bottom: 1134, left: 1134, right: 1134 },
} as const;

export const CODE_FONT = 'Courier New';
export const LINE_COLOR = 'BFBFBF';
export const CODE_BACKGROUND = 'F3F3F3';

const FONT = 'Arial';
const INK = '1F2937';

function heading(size: number, before: number, after: number) {
  return {
    run: { font: FONT, size, bold: true, color: INK },
    paragraph: { spacing: { before, after }, keepNext: true },
  };
}

/** How the document looks; sizes of letters are half points. */
export const STYLES: IStylesOptions = {
  default: {
    document: {
      run: { font: FONT, size: 21 },
      paragraph: { spacing: { after: 120, line: 276, lineRule: LineRuleType.AUTO } },
    },
    title: heading(40, 0, 240),
    heading1: heading(30, 360, 140),
    heading2: heading(24, 280, 120),
    heading3: heading(22, 220, 100),
    hyperlink: { run: { color: '0B5CAD', underline: {} } },
  },
};
