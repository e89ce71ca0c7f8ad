import { expect, it } from '@jest/globals';
import supertest from 'supertest';
import { useConsole } from './console.stack.ts';

const console = useConsole();

it('is ready once it has started', async () => {
  await expect(Promise.resolve(console.service().ready?.())).resolves.toBeUndefined();
});

it('describes its API, and answers 404 to what is none of it', async () => {
  const server = supertest(console.service().httpUrl);
  expect((await server.get('/openapi.json')).body).toMatchObject({ info: { title: 'Tollkeeper console' } });
  expect((await server.get('/api/v1/nothing')).status).toBe(404);
});
