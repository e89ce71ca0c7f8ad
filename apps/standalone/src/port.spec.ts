import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { findFreePort, requireFreePort } from './port.ts';

describe('requireFreePort', () => {
  it('finds a free port for 0, and leaves it free', async () => {
    const port = await requireFreePort('PORT', '127.0.0.1', 0);
    expect(await requireFreePort('PORT', '127.0.0.1', port)).toBe(port);
  });

  it('names the variable and another port when the port is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const refused = requireFreePort('OPS_PORT', '127.0.0.1', port);
    await expect(refused).rejects.toThrow(`Port ${port} of 127.0.0.1 is in use`);
    await expect(refused).rejects.toThrow(`OPS_PORT=${port + 1} npm start`);
    server.close();
  });

  it('names HOST for an address that this machine does not have', async () => {
    await expect(requireFreePort('PORT', '192.0.2.1', 8080)).rejects.toThrow('Check HOST and PORT');
  });
});

it('findFreePort takes the port if it is free, and another one if it is in use or 0', async () => {
  const free = await findFreePort(0);
  expect(await findFreePort(free)).toBe(free);
  const server = createServer().listen(free, '127.0.0.1');
  await once(server, 'listening');
  const other = await findFreePort(free);
  expect([other === free, await findFreePort(other)]).toEqual([false, other]);
  server.close();
});
