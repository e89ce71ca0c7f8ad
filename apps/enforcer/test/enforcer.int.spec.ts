import { expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { once } from 'node:events';
import { useMongo } from '@tollkeeper/testing';
import supertest from 'supertest';
import { useEnforcer } from './enforcer.stack.ts';

const enforcer = useEnforcer(useMongo());

it('is ready once it has started', async () => {
  await expect(Promise.resolve(enforcer.service().ready?.())).resolves.toBeUndefined();
});

it('describes its API, and answers 404 to what is none of it', async () => {
  const server = supertest(enforcer.service().httpUrl);
  expect((await server.get('/openapi.json')).body).toMatchObject({ info: { title: 'Tollkeeper enforcer' } });
  expect((await server.get('/api/v1/nothing')).status).toBe(404);
});

it('listens for gRPC where it says', async () => {
  const [host, port] = enforcer.service().grpcAddress.split(':');
  const socket = connect({ host, port: Number(port) });
  await once(socket, 'connect');
  socket.destroy();
});
