import type { TelemetryBody } from '../telemetry.ts';
import type { CallShape, GeneratedCall } from './generated.call.ts';

/** A program that reports calls in its own way. */
export interface Sender {
  name: string;
  protocol: 'otlp' | 'litellm' | 'cloudevents';
  /** Number of calls that it puts into a body at most. */
  maxBatch: number;
  /** What its record of the call with this number can say. */
  shapeOf(index: number): CallShape;
  /** The model as the sender names it, which is how figures are grouped. */
  modelOf(index: number, call: GeneratedCall): string;
  body(apiKey: string, calls: readonly { index: number; call: GeneratedCall }[]): TelemetryBody;
}
