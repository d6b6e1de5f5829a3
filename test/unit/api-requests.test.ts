import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCursor, encodeCursor } from '../../src/api/cursor.ts';
import { jsonText } from '../../src/domain/json-text.ts';
import { openApiDocument } from '../../src/api/openapi.ts';
import { parseJsonBody } from '../../src/api/parse-json-body.ts';
import { ROUTES } from '../../src/api/routes/index.ts';
import { canonicalJson } from '../../src/domain/canonical-json.ts';
import { Problem, PROBLEMS } from '../../src/domain/problem.ts';

const parse = (json: string) => parseJsonBody(Buffer.from(json));

describe('a JSON body', () => {
  it('is read as JSON.parse reads it, where nothing of it is rounded', () => {
    const whole = (_name: string, member: unknown): unknown =>
      typeof member === 'number' ? Math.trunc(member % 1e9) : member;
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 20 }), (value) => {
        const text = JSON.stringify(JSON.parse(JSON.stringify(value), whole), null, 2);
        expect(parse(text).value).toEqual(JSON.parse(text));
      }),
    );
  });

  it('names every number that would be rounded, by how it is written', () => {
    const { mistakes } = parse('{"a":[1,1.0,{"b":1e2}],"c":-9007199254740992,"d":9007199254740991,"e":"1.5","f":-0}');
    expect(mistakes.map((mistake) => mistake.path)).toEqual(['a[1]', 'a[2].b', 'c']);
  });

  it('names NUL and half a pair, in texts and names', () => {
    const { mistakes } = parse(
      String.raw`{"a":"x\u0000","b":["\ud83d"],"c":"\ud83d\ude0a","\u0000":1,"d":"\u0000number:1"}`,
    );
    expect(mistakes.map((mistake) => mistake.path)).toEqual(['a', 'b[0]', '', 'd']);
  });

  it.each(['', '{', '01', '{"a":1,}', "{'a':1}", '[1]]', '\ufeff1', 'NaN'])('that is none is malformed: %j', (text) => {
    expect(() => parse(text)).toThrow(Problem);
  });
});

describe('the canonical form of JSON', () => {
  it('is one for every order of members and every spacing, and another for every other value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, other) => {
        const reversed = (v: unknown): unknown =>
          Array.isArray(v)
            ? v.map(reversed)
            : typeof v === 'object' && v !== null
              ? Object.fromEntries(
                  Object.entries(v)
                    .reverse()
                    .map(([k, m]) => [k, reversed(m)]),
                )
              : v;
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
        const same = canonicalJson(other) === canonicalJson(value);
        if (same) expect(JSON.parse(JSON.stringify(other))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('JSON that is sent', () => {
  it('has amounts digit by digit', () => {
    expect(jsonText({ a: 9_007_199_254_740_993n, b: [-1n, undefined], c: undefined, d: null, e: 'x"' })).toBe(
      '{"a":9007199254740993,"b":[-1,null],"d":null,"e":"x\\""}',
    );
  });
});

describe('a cursor', () => {
  it('reads back, and anything else is refused', () => {
    expect(decodeCursor(encodeCursor(['1', 'a:b%', 3]), [/^\d$/, /./, /^3$/])).toEqual(['1', 'a:b%', '3']);
    for (const odd of [
      '',
      'x',
      encodeCursor(['1']),
      encodeCursor(['x', 'a', 3]),
      Buffer.from('{"0":1}').toString('base64url'),
    ]) {
      expect(() => decodeCursor(odd, [/^\d$/, /./, /^3$/])).toThrow(Problem);
    }
  });
});

describe('the OpenAPI document', () => {
  const document = openApiDocument(ROUTES) as any;

  it('has every route with its answers, its refusals and its key', () => {
    for (const route of ROUTES) {
      const operation = document.paths[route.path][route.method.toLowerCase()];
      for (const status of Object.keys(route.answers)) expect(operation.responses).toHaveProperty(status);
      if (route.scope !== null)
        expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['401', '403', '503']));
      const headers = (operation.parameters ?? []).filter((p: any) => p.in === 'header').map((p: any) => p.name);
      expect(headers).toEqual(route.keyed ? ['Idempotency-Key'] : []);
    }
    expect(document.paths['/webhooks/{source}'].post.responses).toHaveProperty('503');
  });

  it('refers to nothing that is not there', () => {
    const text = JSON.stringify(document);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      expect(document.components.schemas).toHaveProperty(name ?? '');
    }
    expect(text).not.toContain('$defs');
    const ids = Object.values(document.paths).flatMap((path: any) =>
      Object.values(path).map((op: any) => op.operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });
});

it('every refusal stands in docs/api.md with its status', () => {
  const rows = readFileSync('docs/api.md', 'utf8').split('\n');
  for (const [code, { status }] of Object.entries(PROBLEMS)) {
    expect(
      rows.filter((row) => row.startsWith('|') && row.includes(`\`${code}\``) && row.includes(`| ${status} |`)),
    ).toHaveLength(1);
  }
});
