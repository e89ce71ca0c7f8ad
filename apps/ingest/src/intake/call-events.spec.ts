import { expect, it } from '@jest/globals';
import { gatewayEventSchema } from '@tollkeeper/contracts';
import { createPriceBook, readBundledTable } from '@tollkeeper/prices';
import fc from 'fast-check';
import { eventsOf } from './call-events.ts';
import { withPrice } from './call-price.ts';
import { readCalls } from './calls.ts';
import { ASKED } from './facts.ts';
import { type AttributeValue, emptyRecord, type IntakeRecord } from './record.ts';

const PRICES = createPriceBook(readBundledTable());

const VALUE: fc.Arbitrary<AttributeValue> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.double(),
  fc.nat(),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constantFrom('guardrail_intervened', 'content_filter', 'chat', 'LLM', 'gpt-4o'),
  fc.array(fc.constantFrom('guardrail_intervened', 'content_filter', 'x')),
);
const ATTRIBUTES = fc.dictionary(fc.constantFrom(...ASKED.names), VALUE, { noNullPrototype: false });

const RECORD: fc.Arbitrary<IntakeRecord> = fc
  .record({
    kind: fc.constantFrom('span', 'log', 'callback'),
    attributes: ATTRIBUTES,
    resource: ATTRIBUTES,
    timeMs: fc.oneof(fc.constant(0), fc.maxSafeNat()),
  })
  .map(({ kind, attributes, resource, timeMs }) => ({
    ...emptyRecord(kind, {
      scope: { name: 'x' },
      attributes: new Map([['gen_ai.operation.name', 'chat'], ['gen_ai.usage.cost', 1], ...Object.entries(attributes)]),
      resource: new Map(Object.entries(resource)),
    }),
    timeMs,
  }));

it('every event of a call is valid, whatever the values of its attributes are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(RECORD, { maxLength: 5 }),
      fc.option(fc.string(), { nil: undefined }),
      async (records, agent) => {
        const { calls, blocks } = await readCalls(records, {
          receivedMs: 1_764_150_000_000,
          agent: agent || undefined,
        });
        const priced = calls.map((call) => withPrice(call, PRICES));
        for (const event of await eventsOf(priced, blocks)) {
          expect(gatewayEventSchema.safeParse(event).error?.issues).toBeUndefined();
        }
      },
    ),
  );
});
