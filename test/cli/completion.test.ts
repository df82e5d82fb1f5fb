import { describe, expect, test } from '@jest/globals';
import { runCli } from '../support/run-cli.js';

describe('shell completion', () => {
  test.each(['bash', 'zsh', 'powershell'])('`autocomplete %s` says how to set it up', async (shell) => {
    const { exitCode, stdout } = await runCli(['autocomplete', shell]);
    expect(exitCode).toBe(0);
    expect(stdout.toString()).toContain('wirebound');
  });

  test.each([
    ['wirebound ser', ['serve']],
    ['wirebound serve --cod', ['--codec']],
    ['wirebound get --retry', ['--retry-for']],
  ])('bash completes %j', async (line, expected) => {
    const setUp = await runCli(['autocomplete', 'script', 'bash']);
    const words = line.split(' ');
    const script = `${setUp.stdout}
      COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}
      eval "$(complete -p wirebound | sed 's/.*-F \\([^ ]*\\) .*/\\1/')"
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = await runCli([], { under: ['bash', '-c', script] });
    expect({ lines: stdout.toString().trimEnd().split('\n'), stderr }).toEqual({
      lines: expected,
      stderr: '',
    });
  });
});
