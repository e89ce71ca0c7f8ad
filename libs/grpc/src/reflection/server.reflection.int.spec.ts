import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import {
  Client,
  type ClientDuplexStream,
  credentials,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  type ServiceDefinition,
  status,
} from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import { describe, expect, it } from '@jest/globals';
import { reflectionServices } from '@tollkeeper/contracts';
import { eventually } from '@tollkeeper/testing';
import { cleanUps, lines, makeServer } from '../../test/identity.server.ts';
import { createCallLimits } from '../call.limits.ts';
import { serviceNameOf } from '../unary.ts';
import { addReflection } from './server.reflection.ts';

const [reflection] = reflectionServices;
const { requestSerialize, responseDeserialize, path } = reflection.ServerReflectionInfo;
type Question = Parameters<typeof requestSerialize>[0];
type Answer = ReturnType<typeof responseDeserialize>;

const IDENTITY = 'tollkeeper.identity.v1.IdentityService';
const SERVED = [IDENTITY, 'grpc.health.v1.Health', ...reflectionServices.map(serviceNameOf)];

function clientOf(address: string): Client {
  const client = new Client(address, credentials.createInsecure());
  cleanUps.push(async () => client.close());
  return client;
}

/** A stream of questions. `ask` resolves to the answer, and `ended` to the status. */
function open(client: Client, rpc = path) {
  const stream = client.makeBidiStreamRequest(rpc, requestSerialize, responseDeserialize) as ClientDuplexStream<
    Question,
    Answer
  >;
  const ended = new Promise<status>((resolve) => stream.on('status', ({ code }) => resolve(code)));
  stream.on('error', () => undefined);
  const ask = async (question: Question): Promise<Answer> => {
    stream.write(question);
    const [answer] = (await once(stream, 'data')) as [Answer];
    return answer;
  };
  return { stream, ask, ended };
}

/** The address of a server that has reflection alone. */
async function reflectionOf(interceptor: ServerInterceptor): Promise<string> {
  const server = new Server({ interceptors: [interceptor] });
  cleanUps.push(async () => server.forceShutdown());
  addReflection(server, []);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return `127.0.0.1:${port}`;
}

async function served() {
  const server = makeServer();
  await server.start();
  const client = clientOf(server.address);
  return { server, client, ...open(client) };
}

describe('gRPC reflection', () => {
  it.each(reflectionServices.map((service) => [serviceNameOf(service), service.ServerReflectionInfo.path]))(
    'by %s is enough to call each service that the server lists',
    async (_name, rpc) => {
      const { server, client } = await served();
      const { ask } = open(client, rpc);
      const { listServicesResponse } = await ask({ listServices: '' });
      expect(listServicesResponse?.service).toEqual(SERVED.map((name) => ({ name })));

      for (const name of SERVED) {
        const { fileDescriptorResponse } = await ask({ fileContainingSymbol: name });
        const definition = loadFileDescriptorSetFromBuffer(setOf(fileDescriptorResponse!.fileDescriptorProto));
        expect(definition[name]).toBeDefined();
        if (name !== 'grpc.health.v1.Health') continue;
        const Health = makeGenericClientConstructor(definition[name] as ServiceDefinition, name);
        const health = new Health(server.address, credentials.createInsecure());
        cleanUps.push(async () => health.close());
        const answer = await new Promise((resolve, reject) => {
          health['Check']!({ service: IDENTITY }, (error: Error | null, answer: unknown) =>
            error === null ? resolve(answer) : reject(error),
          );
        });
        expect(answer).toMatchObject({ status: 1 });
      }
    },
  );

  it('finds methods and nested types, and files by their names', async () => {
    const { ask } = await served();
    const all = [];
    for (const symbol of [`${IDENTITY}.GetAgents`, 'tollkeeper.identity.v1.Agent.LabelsEntry']) {
      all.push((await ask({ fileContainingSymbol: symbol })).fileDescriptorResponse);
    }
    const byName = await ask({ fileByFilename: 'tollkeeper/identity/v1/identity.proto' });
    expect(byName.fileDescriptorResponse?.fileDescriptorProto.length).toBeGreaterThan(0);
    expect(all).toEqual([byName.fileDescriptorResponse, byName.fileDescriptorResponse]);
  });

  const extension = { containingType: 'tollkeeper.identity.v1.Agent', extensionNumber: 1_000 };
  it.each<[string, Question, status]>([
    ['a file of another service', { fileByFilename: 'tollkeeper/keys/v1/keys.proto' }, status.NOT_FOUND],
    ['a service of another server', { fileContainingSymbol: 'tollkeeper.keys.v1.KeysService' }, status.NOT_FOUND],
    ['a name of every object', { fileByFilename: '__proto__' }, status.NOT_FOUND],
    ['an extension', { fileContainingExtension: extension }, status.NOT_FOUND],
    ['the extensions of an unknown type', { allExtensionNumbersOfType: 'a.B' }, status.NOT_FOUND],
    ['nothing', {}, status.INVALID_ARGUMENT],
  ])('answers a question for %s with an error, and the next one on the same stream', async (_what, question, code) => {
    const { ask } = await served();
    expect(await ask(question)).toMatchObject({ errorResponse: { errorCode: code } });
    expect(await ask({ allExtensionNumbersOfType: extension.containingType })).toMatchObject({
      allExtensionNumbersResponse: { baseTypeName: extension.containingType, extensionNumber: [] },
    });
  });

  it('ends a stream with too many questions, or with one that is too long', async () => {
    const { client, stream, ended } = await served();
    stream.resume();
    for (let index = 0; index <= 1_000; index += 1) stream.write({ listServices: '' });
    expect(await ended).toBe(status.RESOURCE_EXHAUSTED);
    const long = open(client);
    long.stream.write({ fileContainingExtension: { containingType: 'a'.repeat(2_000) } });
    expect(await long.ended).toBe(status.INVALID_ARGUMENT);
  });

  it('has a room of its own, in which more streams than it has cut off the oldest one', async () => {
    const limits = createCallLimits({ streams: { maxOpen: 1, maxAgeMs: 600_000 }, reflection: { maxOpen: 3 } });
    const client = clientOf(await reflectionOf(limits));
    const streams = Array.from({ length: 3 }, () => open(client));
    for (const { ask } of [...streams, ...streams]) await ask({ listServices: '' });
    await open(client).ask({ listServices: '' });
    expect(await streams[0]!.ended).not.toBe(status.OK);
    for (const { ask } of streams.slice(1)) await ask({ listServices: '' });
  });

  it('ends open streams when the server stops, which waits for none', async () => {
    const { server, ask, ended } = await served();
    await ask({ listServices: '' });
    await server.stop();
    expect(await ended).toBe(status.OK);
    expect(lines.filter((line) => line.includes('did not finish in time'))).toEqual([]);
  });

  it('reads no question of a client that does not read its answers', async () => {
    let received = 0;
    const counting: ServerInterceptor = (_method, call) =>
      new ServerInterceptingCall(call, {
        start: (next) =>
          next(
            new ServerListenerBuilder()
              .withOnReceiveMessage((message, pass) => {
                received += 1;
                pass(message);
              })
              .build(),
          ),
      });
    const address = await reflectionOf(counting);
    const session = connectHttp2(`http://${address}`, { settings: { initialWindowSize: 0 } });
    cleanUps.push(async () => session.destroy());
    const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
    const stream = session.request(headers, { endStream: false }).on('error', () => undefined);
    for (let index = 0; index < 500; index += 1) stream.write(framed(requestSerialize({ listServices: '' })));
    await eventually(async () => expect(received).toBeGreaterThan(0));

    const { ask } = open(clientOf(address));
    for (let index = 0; index < 20; index += 1) await ask({ listServices: '' });
    expect(received).toBeLessThan(20 + 5);
  });
});

/** A `google.protobuf.FileDescriptorSet`, whose field 1 has the files. */
function setOf(files: readonly Uint8Array[]): Buffer {
  return Buffer.concat(files.flatMap((file) => [Buffer.from([0x0a, ...varint(file.length)]), file]));
}

function varint(value: number): number[] {
  return value > 127 ? [(value % 128) + 128, ...varint(Math.floor(value / 128))] : [value];
}

function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
