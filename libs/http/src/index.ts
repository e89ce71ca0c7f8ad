export * from './caller-token.ts';
export * from './error-answerer.ts';
export * from './error-body.ts';
export * from './http-listener.ts';
export * from './http-server.ts';
export * from './openapi.ts';
export * from './request-id.ts';
export * from './route.ts';
