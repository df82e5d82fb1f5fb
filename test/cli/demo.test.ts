import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { runCli, startCli } from '../support/run-cli.js';
import { withTempFolder } from '../support/temp-folder.js';

const script = fileURLToPath(new URL('../../scripts/demo.js', import.meta.url));

describe('the demo', () => {
  test('serves 64 MiB to four clients, proves the copies, and leaves nothing behind', async () => {
    await withTempFolder(async (folder) => {
      const { exitCode, stdout, stderr } = await runCli([], { script, env: { TMPDIR: folder } });
      const text = stdout.toString();
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(text.match(/^machine \d \| PASS {5}demo\.img$/gm)).toHaveLength(4);
      expect(text).toContain('server | serving  demo.img: 64 MiB');
      expect(text).toContain('server | clients  4 verified, 0 failed');
      const digests = text.match(/\b[0-9a-f]{64}\b/g) ?? [];
      expect(digests.length).toBeGreaterThanOrEqual(1 + 4 + 5);
      expect(new Set(digests).size).toBe(1);
      expect(readdirSync(folder)).toEqual([]);
    });
  });

  test('stopped by Ctrl+C, it leaves neither a process nor a file behind', async () => {
    await withTempFolder(async (folder) => {
      const demo = startCli([], { script, env: { TMPDIR: folder } });
      await demo.line(/wirebound get \d/);
      demo.kill('SIGINT');
      expect((await demo.finished).exitCode).toBe(130);
      expect(readdirSync(folder)).toEqual([]);
    });
  });
});
