import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { Packer } from 'docx';
import { strFromU8, unzipSync } from 'fflate';
import { lexer } from 'marked';
import { drawChart } from '../../../benchmark/charts/draw-chart.js';
import { scalingChart } from '../../../benchmark/charts/scaling-chart.js';
import { makeDocument } from '../../../scripts/word/make-document.js';
import { withTempFolder } from '../../support/temp-folder.js';

const DOCS = new URL('../../../docs/', import.meta.url);

async function convert(markdown: string, folder: URL): Promise<Record<string, Uint8Array>> {
  return unzipSync(await Packer.toBuffer(makeDocument(lexer(markdown), folder)));
}

test('the write-up becomes a Word document with every heading and table in it', async () => {
  const markdown = readFileSync(new URL('writeup.md', DOCS), 'utf8');
  const text = strFromU8((await convert(markdown, DOCS))['word/document.xml'] ?? new Uint8Array());
  const headings = lexer(markdown).flatMap((token) =>
    token.type === 'heading' ? [token.text as string] : [],
  );
  expect(headings.filter((heading) => !text.includes(heading))).toEqual([]);
  const tables = lexer(markdown).filter(({ type }) => type === 'table');
  expect(text.match(/<w:tbl>/g)).toHaveLength(tables.length);
});

test('a chart is drawn as SVG and PNG and goes into the document', async () => {
  await withTempFolder(async (path) => {
    const folder = pathToFileURL(`${path}/`);
    const point = { content: 'random', series: 'none, 256 KiB' };
    const points = [
      { ...point, clients: 1, rate: 100 },
      { ...point, clients: 2, rate: 180 },
    ];
    await drawChart('chart', scalingChart(points, 'MiB/s', 'proportional'), folder);
    expect(readFileSync(new URL('chart.svg', folder), 'utf8')).toContain('clients at once');
    const files = await convert('# Title\n\n![A chart](chart.png)\n', folder);
    const pictures = Object.keys(files).filter((name) => name.startsWith('word/media/'));
    expect(pictures).toHaveLength(1);
    expect(Buffer.from(files[pictures[0] ?? ''] ?? [])).toEqual(readFileSync(new URL('chart.png', folder)));
  });
});
