import { describe, expect, it } from '@jest/globals';
import { errorOf } from '../../test/otlp.bodies.ts';
import { bodyOf, RECORDED } from '../../test/senders.ts';
import { readCalls } from './calls.ts';
import { decodeLitellm } from './decode.ts';
import { cutAtLines } from './litellm-callback.ts';

describe("LiteLLM's callback", () => {
  const one = '{"id":"chatcmpl-00000000000000000000","litellm_call_id":"a","prompt_tokens":1,"completion_tokens":2}';
  const shapes = {
    array: `[${one},${one}]`,
    lines: `${one}\n${one}\n`,
    object: one,
    'object of lines': one.replaceAll(',', ',\n'),
  };

  it.each(Object.entries(shapes))('is read as an %s', async (shape, body) => {
    const { records, unreadable } = await decodeLitellm(Buffer.from(` \n${body}`));
    expect([records.length, unreadable]).toEqual([shape.startsWith('object') ? 1 : 2, []]);
  });

  it('without an object has none', async () => {
    expect(await decodeLitellm(Buffer.from(' \n'))).toEqual({ records: [], unreadable: [] });
    expect(await decodeLitellm(Buffer.from('[]'))).toEqual({ records: [], unreadable: [] });
  });

  it('loses only the line that cannot be read', async () => {
    const { records, unreadable } = await decodeLitellm(Buffer.from(`${one}\n{"id":\n${one}\n{"id":tru}\n${one}`));
    expect(records).toHaveLength(3);
    expect(unreadable.map(({ index }) => index)).toEqual([1, 3]);
  });

  it.each(['[1,', '{"id":"a"', 'text', '5', `[${one}`, `[${one}]]`])('is refused as %s', async (body) => {
    const error = await errorOf(decodeLitellm(Buffer.from(body)));
    expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('generic_api') });
  });

  it.each(['[{},5]', '{}\n5', '{}\n[]', '{}\ntext'])(
    'names what is no object, in a list or in a line: %s',
    async (body) => {
      const { records, unreadable } = await decodeLitellm(Buffer.from(body));
      expect([records.length, unreadable]).toEqual([
        1,
        [{ index: 1, message: 'is not an object of the generic_api callback' }],
      ]);
    },
  );

  it.each([
    ['a list', `[${'{},'.repeat(10_000)}{}]`],
    ['lines', '{}\n'.repeat(10_001)],
    ['lines that are no objects', `{}\n${'x\n'.repeat(10_000)}`],
  ])('is refused with 10,001 objects in %s, whether they can be read or not', async (_case, body) => {
    expect(await errorOf(decodeLitellm(Buffer.from(body)))).toMatchObject({ code: 'payload_too_large' });
  });

  it('loses an object of more than 8 MiB, and says which setting makes it smaller', async () => {
    const large = `{"messages":"${'x'.repeat(8 * 1024 * 1024)}"}`;
    for (const body of [large, `${large}\n${one}`, `[${large},${one}]`]) {
      const { records, unreadable } = await decodeLitellm(Buffer.from(body));
      expect([records.length, unreadable]).toEqual([
        body === large ? 0 : 1,
        [{ index: 0, message: expect.stringContaining('turn_off_message_logging') }],
      ]);
    }
  });

  it('takes the calls of others beside one with a prompt of 1,000 levels', async () => {
    const deep = `{"id":"chatcmpl-00000000000000000001","messages":${'['.repeat(1000)}${']'.repeat(1000)}}`;
    expect(await decodeLitellm(Buffer.from(`[${one},${deep}]`))).toMatchObject({
      records: [expect.anything(), expect.anything()],
      unreadable: [],
    });
  });

  it('has the names of guards beside their own status, if others have no name', async () => {
    const guards =
      '[{"guardrail_status":"success"},{"guardrail_name":"pii","guardrail_status":"guardrail_intervened"},' +
      '{"guardrail_status":"guardrail_intervened"}]';
    const body =
      '{"id":"a","status_fields":{"guardrail_status":"guardrail_intervened"},"guardrail_information":' + `${guards}}`;
    const { records } = await decodeLitellm(Buffer.from(body));
    const { blocks } = await readCalls(records, { receivedMs: 1 });
    expect(blocks.map(({ guard }) => guard)).toEqual(['pii', 'guardrail']);
  });

  it('keeps the positions of what it can read in a list', async () => {
    const { records, unreadable } = await decodeLitellm(Buffer.from(`[5,${one},"x"]`));
    expect([records.length, unreadable.map(({ index }) => index)]).toEqual([1, [0, 2]]);
  });

  it('in a later part of a body loses only the lines that cannot be read, with their place in the body', async () => {
    const body = `{"id":\n\n${one}\ntext\n[]\n${one}`;
    const { records, unreadable } = await decodeLitellm(Buffer.from(body), { before: 7 });
    expect([records.length, unreadable.map(({ index }) => index)]).toEqual([2, [7, 9, 10]]);
    expect(await decodeLitellm(Buffer.from('5'), { before: 7 })).toMatchObject({ unreadable: [{ index: 7 }] });
  });

  it('has at most 10,000 objects in all parts', async () => {
    expect((await decodeLitellm(Buffer.from(`${one}\n${one}`), { before: 9_998 })).records).toHaveLength(2);
    const error = await errorOf(decodeLitellm(Buffer.from(`${one}\n${one}`), { before: 9_999 }));
    expect(error).toMatchObject({ code: 'payload_too_large' });
  });

  it.each([
    ['lines', `${one}\n${one}\n`, true],
    ['lines with blanks around', ` \n ${one} \r\n\n  ${one}`, true],
    ['lines of which the first is broken', `{"id":tru}\n${one}`, true],
    ['a line that is not complete', one, false],
    ['a line before another that is not', `${one}\n`, false],
    ['an object in several lines', '{\n"a":{}\n,"b":{\n}}', false],
    ['an array', `[${one}\n,${one}]`, false],
    ['an array in lines', `[{}\n{}\n]`, false],
  ])('can be divided if it has %s: %j %p', (_case, body, canBe) => {
    expect(cutAtLines()(Buffer.from(body))).toBe(canBe ? body.lastIndexOf('\n') + 1 : 0);
  });

  it('stays divided by lines, whatever its later parts begin with', () => {
    const cut = cutAtLines();
    cut(Buffer.from(`${one}\n${one}`));
    expect([cut(Buffer.from('{"id":\ntext\n{')), cut(Buffer.from('{"id"'))]).toEqual([12, 0]);
  });

  it('of each recorded body is refused or read up to any byte', async () => {
    for (const { file } of RECORDED.filter(({ path }) => path.endsWith('/litellm'))) {
      const body = bodyOf(file);
      for (let length = 1; length < body.length; length += 97) {
        const error = await errorOf(decodeLitellm(body.subarray(0, length)));
        if (error !== undefined) expect(error).toMatchObject({ code: 'invalid_request' });
      }
    }
  });
});
