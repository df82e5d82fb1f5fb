import { parseArgs } from 'node:util';
import { parseCount, parseSize } from '#dist/core/units.js';

/** The options a benchmark knows, with their defaults and what they mean. */
export type OptionTable = Readonly<Record<string, { readonly default: string; readonly help: string }>>;

/** Parsed options; `raw` is what goes into the result file. */
export interface Options<Table extends OptionTable> {
  readonly raw: Readonly<Record<string, string>>;
  text(name: keyof Table & string): string;
  /** Comma-separated. */
  list(name: keyof Table & string): readonly string[];
  /** Bytes, from text with a unit. */
  size(name: keyof Table & string): number;
  count(name: keyof Table & string): number;
}

/** Reads the command line; `--help` prints the table and exits, anything unknown exits with code 2. */
export function readOptions<Table extends OptionTable>(command: string, table: Table): Options<Table> {
  const names = Object.keys(table) as (keyof Table & string)[];
  let raw: Record<string, string>;
  try {
    const { values } = parseArgs({
      options: {
        help: { type: 'boolean' },
        ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
      },
    });
    if ((values as { help?: boolean }).help === true) {
      console.log(helpText(command, table));
      process.exit(0);
    }
    raw = Object.fromEntries(
      names.map((name) => [name, (values as Record<string, string>)[name] ?? table[name]?.default ?? '']),
    );
  } catch (error) {
    console.error(`${(error as Error).message}\n${helpText(command, table)}`);
    process.exit(2);
  }
  const text = (name: string) => raw[name] ?? '';
  return {
    raw,
    text,
    list: (name) => text(name).split(','),
    size: (name) => parseSize(text(name), `--${name}`),
    count: (name) => parseCount(text(name), `--${name}`),
  };
}

function helpText(command: string, table: OptionTable): string {
  const lines = Object.entries(table).map(
    ([name, { default: value, help }]) =>
      `  --${name.padEnd(10)} ${help}${value === '' ? '' : ` [${value}]`}`,
  );
  return [`${command} -- [OPTIONS]`, ...lines].join('\n');
}
