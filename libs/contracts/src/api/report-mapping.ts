import { z } from 'zod';
import { labelName } from './labels.ts';
import { identifier } from './primitives.ts';

/** How reports of calls that come with a workspace key are read, beside the names that Tollkeeper knows. */
export interface ReportMapping {
  /** The attribute with the agent of a call, which counts before all others; null for none. */
  readonly agent: string | null;
  /** The same for the run. */
  readonly run: string | null;
  /** The attributes with labels of a call, by the names of the labels. */
  readonly labels: Readonly<Record<string, string>>;
  /** Whether the prices of tokens count before the costs that are reported. */
  readonly priceAnew: boolean;
  /** The name that Tollkeeper has among the guards of the gateway: blocks by it are known already. */
  readonly guard: string;
}

export const DEFAULT_REPORT_MAPPING: ReportMapping = {
  agent: null,
  run: null,
  labels: {},
  priceAnew: false,
  guard: 'tollkeeper',
};

/** With the user and the team, which each call may have, as many as a call may have. */
const MAX_MAPPED_LABELS = 8;
const MAX_NAME = 128;

const PROMPTS =
  /^(gen_ai\.(prompt|completion)(\.\d|#|$)|gen_ai\.(input|output)\.messages|gen_ai\.system_instructions|gen_ai\.tool\.call\.|llm\.(input_messages|output_messages|prompts|invocation_parameters)|(input|output)\.value|ai\.(prompt|response\.(text|object|reasoning|toolCalls))|langfuse\.(observation|trace)\.(input|output)|traceloop\.entity\.(input|output)|\$\.(messages|response\.(choices|output|content)))/;

const attributeName = z
  .string()
  .max(MAX_NAME, `must be at most ${MAX_NAME} characters`)
  .regex(/^[!"$-~]+(#[!"$-~]*)?$/, 'must be the name of an attribute, or one with # and a path, without spaces')
  .refine((name) => !PROMPTS.test(name), 'must not name a prompt or an answer, which Tollkeeper never reads');

/** Fields that are left out have their defaults. */
export const reportMapping = z
  .strictObject({
    agent: attributeName
      .nullable()
      .default(DEFAULT_REPORT_MAPPING.agent)
      .meta({ description: 'The attribute with the agent of a call. It counts before `gen_ai.agent.name`' }),
    run: attributeName
      .nullable()
      .default(DEFAULT_REPORT_MAPPING.run)
      .meta({ description: 'The attribute with the run of a call. It counts before `session.id` and the like' }),
    labels: z
      .record(labelName, attributeName)
      .refine((all) => Object.keys(all).length <= MAX_MAPPED_LABELS, `must be at most ${MAX_MAPPED_LABELS} labels`)
      .default({})
      .meta({
        description: `The attributes with labels of a call, by the names of the labels: at most ${MAX_MAPPED_LABELS}`,
        maxProperties: MAX_MAPPED_LABELS,
        example: { project: 'app.project' },
      }),
    price_anew: z
      .boolean()
      .default(DEFAULT_REPORT_MAPPING.priceAnew)
      .meta({ description: 'Whether calls with tokens cost what these cost by prices, whatever cost is reported' }),
    guard: identifier.default(DEFAULT_REPORT_MAPPING.guard).meta({
      description: 'Name of Tollkeeper among the guards of the gateway. Blocks by it are not counted again',
      example: 'tollkeeper',
    }),
  })
  .meta({
    id: 'ReportMapping',
    description:
      'How reports of calls by OTLP and LiteLLM with the key are read. An attribute is looked for in the span or log ' +
      'entry, in the spans around it, the nearest first, and in the resource. After `#` comes a path into the JSON of ' +
      "the attribute. `$.a.b` is a path in an object of LiteLLM's callback",
  });
