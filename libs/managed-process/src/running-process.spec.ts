import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from '@jest/globals';
import { halt } from './running-process.ts';

it('a process that is halted does nothing more until it is resumed', async () => {
  const script = `process.on('message', (n) => process.send(n)); process.send(0);`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    await once(child, 'message');
    await halt(child.pid!);
    const answer = once(child, 'message');
    child.send(1);
    expect(await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 200, 'none'))])).toBe('none');
    child.kill('SIGCONT');
    expect((await answer)[0]).toBe(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await expect(halt(child.pid!)).rejects.toThrow();
  } finally {
    child.kill('SIGKILL');
  }
});
