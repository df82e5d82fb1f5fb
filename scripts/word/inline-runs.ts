import { ExternalHyperlink, type IRunOptions, type ParagraphChild, TextRun } from 'docx';
import type { Token, Tokens } from 'marked';
import { CODE_FONT } from './styles.js';

/** Words in a paragraph: text, bold, italic, code and links; a link to another file of the docs stays plain text. */
export function inlineRuns(tokens: readonly Token[] = [], style: IRunOptions = {}): ParagraphChild[] {
  return tokens.flatMap((token): ParagraphChild[] => {
    switch (token.type) {
      case 'strong':
        return inlineRuns(token.tokens, { ...style, bold: true });
      case 'em':
        return inlineRuns(token.tokens, { ...style, italics: true });
      case 'codespan':
        return [new TextRun({ ...style, font: CODE_FONT, size: codeSize(style), text: plain(token.text) })];
      case 'link':
        return link(token as Tokens.Link, style);
      case 'br':
        return [new TextRun({ ...style, break: 1 })];
      case 'html':
        return [];
      default:
        if ('tokens' in token && token.tokens !== undefined) return inlineRuns(token.tokens, style);
        return [new TextRun({ ...style, text: plain('text' in token ? String(token.text) : token.raw) })];
    }
  });
}

function link({ href, tokens }: Tokens.Link, style: IRunOptions): ParagraphChild[] {
  if (!/^https?:/.test(href)) return inlineRuns(tokens, style);
  return [
    new ExternalHyperlink({ link: href, children: inlineRuns(tokens, { ...style, style: 'Hyperlink' }) }),
  ];
}

/** Letters of one width look larger than others of the same size. */
function codeSize({ size }: IRunOptions): number {
  return typeof size === 'number' ? size - 2 : 19;
}

/** Line breaks of the source are spaces, and marked's escapes are characters again. */
function plain(text: string): string {
  const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text
    .replace(/\s*\n\s*/g, ' ')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => characters[name] ?? '');
}
