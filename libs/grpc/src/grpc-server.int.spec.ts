import { once } from 'node:events';
import { createConnection } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import { eventually } from '@tollkeeper/testing';
import { cleanUps, config, connect, healthOf, makeServer, workspace } from '../test/identity.server.ts';

describe('a gRPC server', () => {
  it('says through gRPC health whether the service can do its work, both ways', async () => {
    let usable = false;
    const ready = () => (usable ? Promise.resolve() : Promise.reject(new Error('no database')));
    const server = makeServer({}, { ready, healthIntervalMs: 5 });
    await server.start();
    expect(await healthOf(server.address)).toBe('NOT_SERVING');
    usable = true;
    await eventually(async () => expect(await healthOf(server.address)).toBe('SERVING'));
    usable = false;
    await eventually(async () => expect(await healthOf(server.address)).toBe('NOT_SERVING'));
  });

  it('says that it is not serving as soon as it drains, and answers until it stops', async () => {
    const server = makeServer({}, { healthIntervalMs: 5 });
    await server.start();
    const client = connect(server.address);
    await eventually(async () => expect(await healthOf(server.address)).toBe('SERVING'));
    server.drain?.();
    expect(await healthOf(server.address)).toBe('NOT_SERVING');
    expect(await client.getWorkspace({ tenantId: 'x' })).toEqual({ workspace });
  });

  it('lets a call in flight finish on stop, and takes no new one', async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const server = makeServer({
      getWorkspace: async () => {
        arrive();
        await release;
        return { workspace };
      },
    });
    await server.start();
    const call = connect(server.address).getWorkspace({ tenantId: 'x' });
    await arrived;
    const stopped = server.stop();
    resolve();
    expect(await call).toEqual({ workspace });
    await stopped;
    await expect(connect(server.address).getWorkspace({ tenantId: 'x' })).rejects.toMatchObject({
      code: 'service_unavailable',
    });
  });

  it('stops in bounded time though a call never ends', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const server = makeServer(
      {
        getWorkspace: () => {
          arrive();
          return new Promise(() => undefined);
        },
      },
      { stopTimeoutMs: 20 },
    );
    await server.start();
    const call = connect(server.address).getWorkspace({ tenantId: 'x' }, { deadlineMs: 60_000 });
    const failure = expect(call).rejects.toBeInstanceOf(AppError);
    await arrived;
    await server.stop();
    await failure;
  });

  it('stops in bounded time though a client never closes its connection', async () => {
    const server = makeServer({}, { stopTimeoutMs: 20 });
    await server.start();
    const [host = '', port = ''] = server.address.split(':');
    const socket = createConnection({ host, port: Number(port), allowHalfOpen: true }).on('error', () => {});
    cleanUps.push(async () => void socket.destroy());
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    await once(socket, 'data');
    await server.stop();
  });

  it('closes the oldest connection of the address with the most, beyond the number of its connections', async () => {
    const server = makeServer({}, { maxConnections: 2 });
    await server.start();
    const [host = '', port = ''] = server.address.split(':');
    const open = async () => {
      const socket = createConnection({ host, port: Number(port) }).on('error', () => {});
      cleanUps.push(async () => void socket.destroy());
      await once(socket, 'connect');
      return socket;
    };
    const first = await open();
    const closed = once(first, 'close');
    first.resume();
    await open();
    expect(await connect(server.address).getWorkspace({ tenantId: 'x' })).toEqual({ workspace });
    await closed;
  });

  it('names the address that it could not listen on', async () => {
    const first = makeServer();
    await first.start();
    const port = Number(first.address.split(':')[1]);
    await expect(makeServer({}, { config: { ...config, GRPC_PORT: port } }).start()).rejects.toThrow(
      `127.0.0.1:${port}`,
    );
  });
});
