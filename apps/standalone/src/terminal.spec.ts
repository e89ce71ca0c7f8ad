import { describe, expect, it } from '@jest/globals';
import { createTerminal, endingReadably } from './terminal.ts';

function capture() {
  const written = { out: '', err: '' };
  const terminal = createTerminal({
    out: { write: (text) => (written.out += text) },
    err: { write: (text) => (written.err += text) },
  });
  return { terminal, written };
}

describe('the terminal', () => {
  it('says in one line that all is ready, where, and how to log in', () => {
    const { terminal, written } = capture();
    terminal.ready({ url: 'http://localhost:8080', ownerEmail: 'owner@example.com', seconds: 1.234 });
    expect(written.out.split('\n')).toHaveLength(2);
    expect(written.out).toContain('ready at http://localhost:8080 (1.2 s)');
    expect(written.out).toContain('owner@example.com');
    expect(written.out).toContain('http://localhost:8080/docs');
  });

  it('does not repeat a password that the person has chosen', () => {
    const { terminal, written } = capture();
    const shown = { workspace: 'demo', ownerEmail: 'o@example.com', apiKey: 'ws_live_a.b', apiKeyFile: null };
    terminal.credentials({ ...shown, ownerPassword: null });
    expect(written.out).toContain('TOLLKEEPER_OWNER_PASSWORD');
    terminal.credentials({ ...shown, ownerPassword: 'generated' });
    expect(written.out).toContain('generated');
  });

  it('reports a failure by its sentence, without a stack', () => {
    const { terminal, written } = capture();
    terminal.failure(new Error('Port 8080 is in use.'));
    expect(written.err).toBe('\nTollkeeper cannot start. Port 8080 is in use.\n');
  });

  it('says that it has stopped, why, and what to do', () => {
    const { terminal, written } = capture();
    terminal.stopped('The managed mongod is gone: it ended with SIGKILL');
    expect(written.err).toBe(
      '\nTollkeeper has stopped. The managed mongod is gone: it ended with SIGKILL. ' +
        'Accepted data is kept. Start again: npm start\n',
    );
  });
});

describe('a component that ends readably', () => {
  const failing = {
    name: 'part',
    start: () => Promise.reject(new Error('no')),
    stop: async () => undefined,
  };

  it('hands a failed start to the end of the process', async () => {
    const reasons: unknown[] = [];
    await endingReadably(failing, (reason) => reasons.push(reason)).start();
    expect(reasons).toEqual([new Error('no')]);
  });

  it('leaves a start that a stop has cut off to the stop', async () => {
    const reasons: unknown[] = [];
    const component = endingReadably(failing, (reason) => reasons.push(reason));
    await component.stop();
    await expect(component.start()).rejects.toThrow('no');
    expect(reasons).toEqual([]);
  });
});
