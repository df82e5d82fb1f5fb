import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Resvg } from '@resvg/resvg-js';
import { parse, View, Warn } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { ROOT } from '../support/root.js';

const FOLDER = new URL('docs/charts/', ROOT);
/** Letters come from a package, so that a chart looks the same on a machine without any fonts. */
const FONTS = join(dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')), 'ttf');
/** Pixels per unit of the SVG: sharp in print. */
const SCALE = 2;

/** Draws a vega-lite chart as `NAME.svg` and `NAME.png`; they go to `docs/charts` unless another folder is given. */
export async function drawChart(name: string, spec: TopLevelSpec, folder = FOLDER): Promise<void> {
  const view = new View(parse(compile(spec).spec), { renderer: 'none', logLevel: Warn });
  const svg = await view.toSVG();
  view.finalize();
  const image = new Resvg(svg, {
    background: 'white',
    fitTo: { mode: 'zoom', value: SCALE },
    font: {
      fontFiles: ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'].map((file) => join(FONTS, file)),
      loadSystemFonts: false,
      defaultFontFamily: 'DejaVu Sans',
    },
  });
  await mkdir(folder, { recursive: true });
  await writeFile(new URL(`${name}.svg`, folder), `${svg}\n`);
  await writeFile(new URL(`${name}.png`, folder), image.render().asPng());
}
