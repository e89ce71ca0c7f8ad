import { type Server, type ServerDuplexStream, status } from '@grpc/grpc-js';
import {
  type ReflectionRequestMessage,
  type ReflectionResponseMessage,
  reflectionServices,
} from '@tollkeeper/contracts';
import { readWhile } from '../paced.reading.ts';
import { serviceNameOf } from '../unary.ts';
import { createFileIndex } from './file.index.ts';

/** Tools ask once for each service, type and file. */
const MAX_QUESTIONS = 1_000;
const MAX_CHARACTERS = 1_024;

type Call = ServerDuplexStream<ReflectionRequestMessage, ReflectionResponseMessage>;
type Answer = Omit<ReflectionResponseMessage, 'validHost' | 'originalRequest'>;

/**
 * Describes the services of a server to tools such as grpcurl, and to everybody: the proto files are public. The next
 * question of a stream is read once the client has read the answer. `end` ends all streams, also new ones.
 */
export function addReflection(server: Server, serviceNames: readonly string[]): { end(): void } {
  const services = [...serviceNames, ...reflectionServices.map(serviceNameOf)];
  const files = createFileIndex(new Set(services));
  const open = new Set<Call>();
  let isEnded = false;

  function describe(file: string | undefined): Answer {
    const compiled = file === undefined ? undefined : files.compiled(file);
    if (compiled === undefined)
      return failed(status.NOT_FOUND, 'This server has no file, service or type of this name.');
    return { fileDescriptorResponse: { fileDescriptorProto: compiled } };
  }

  function answer({ messageRequest: kind, ...asked }: ReflectionRequestMessage): Answer {
    switch (kind) {
      case 'listServices':
        return { listServicesResponse: { service: services.map((name) => ({ name })) } };
      case 'fileByFilename':
        return describe(asked.fileByFilename);
      case 'fileContainingSymbol':
        return describe(files.declaring(asked.fileContainingSymbol ?? ''));
      case 'allExtensionNumbersOfType': {
        const baseTypeName = asked.allExtensionNumbersOfType ?? '';
        if (files.declaring(baseTypeName) === undefined) return describe(undefined);
        return { allExtensionNumbersResponse: { baseTypeName, extensionNumber: [] } };
      }
      case 'fileContainingExtension':
        return failed(status.NOT_FOUND, 'No type of this server has extensions.');
      case undefined:
        return failed(status.INVALID_ARGUMENT, 'Ask one of the questions of ServerReflectionRequest.');
    }
  }

  function take(call: Call): void {
    let [questions, isOver] = [0, false];
    const refuse = (code: status, details: string): void => {
      isOver = true;
      call.emit('error', { code, details });
    };
    const fetchIfRoom = readWhile(() => !isOver && call.writableLength === 0, call);
    call.on('data', (originalRequest: ReflectionRequestMessage) => {
      questions += 1;
      if (call.writableEnded || call.destroyed) return;
      if (questions > MAX_QUESTIONS) {
        refuse(status.RESOURCE_EXHAUSTED, `A stream may have ${MAX_QUESTIONS} questions. Open another one.`);
      } else if (JSON.stringify(originalRequest).length > MAX_CHARACTERS) {
        refuse(status.INVALID_ARGUMENT, `A question may have ${MAX_CHARACTERS} characters.`);
      } else {
        const response = { validHost: originalRequest.host, originalRequest, ...answer(originalRequest) };
        call.write(response, fetchIfRoom);
      }
    });
    call.once('end', () => call.end());
    call.once('close', () => open.delete(call));
    open.add(call);
    if (isEnded) call.end();
  }

  for (const service of reflectionServices) server.addService(service, { ServerReflectionInfo: take });
  return {
    end() {
      isEnded = true;
      for (const call of open) call.end();
    },
  };
}

function failed(errorCode: status, errorMessage: string): Answer {
  return { errorResponse: { errorCode, errorMessage } };
}
