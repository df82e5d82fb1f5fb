/** Bytes that one side sends before the other one answers. */
export interface HexTurn {
  /** C: the client, S: the server. */
  readonly side: 'C' | 'S';
  readonly bytes: Buffer;
}

/**
 * The blocks of a Markdown text that are marked `hex`, each as a conversation. A line is a side, bytes with one space
 * between them, and, after two spaces or more, words for people.
 */
export function hexBlocks(text: string): readonly (readonly HexTurn[])[] {
  return [...text.matchAll(/^```hex\n([\s\S]*?)^```$/gm)].map(([, block = '']) => {
    const turns: { side: 'C' | 'S'; bytes: Buffer }[] = [];
    for (const line of block.trimEnd().split('\n')) {
      const [, side, hex = ''] =
        /^([CS]) {2}((?:[0-9a-f]{2} ){0,15}[0-9a-f]{2})(?: {2,}.*)?$/.exec(line) ?? [];
      if (side !== 'C' && side !== 'S') throw new Error(`not a line of hex: ${line}`);
      const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
      const last = turns.at(-1);
      if (last?.side === side) last.bytes = Buffer.concat([last.bytes, bytes]);
      else turns.push({ side, bytes });
    }
    return turns;
  });
}

/** Everything that one side says in a conversation. */
export function saidBy(side: 'C' | 'S', turns: readonly HexTurn[]): Buffer {
  return Buffer.concat(turns.filter((turn) => turn.side === side).map(({ bytes }) => bytes));
}
