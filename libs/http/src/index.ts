export * from './answer-status.ts';
export {
  type ArrivedBody,
  BODY_ENCODINGS,
  type BodyReading,
  bodyTooLarge,
  decoderOf,
  readArrivingBody,
} from './arriving-body.ts';
export * from './arriving-parts.ts';
export * from './body-budget.ts';
export * from './caller-token.ts';
export * from './error-answerer.ts';
export { errorAnswer, type ErrorAnswer } from './error-body.ts';
export * from './http-listener.ts';
export { listen, type Listening } from './listening.ts';
export * from './http-server.ts';
export * from './merge-patch.ts';
export * from './openapi.ts';
export * from './refusals.ts';
export * from './request-id.ts';
export * from './route.ts';
export * from './server-span.ts';
