import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../src/api/openapi.ts';
import { ROUTES } from '../../src/api/routes/index.ts';
import { ANNOUNCEMENT_TYPES, announcedData, isAnnouncementType } from '../../src/domain/announcement-types.ts';
import { webhookBody } from '../../src/notify/webhook-body.ts';

const DOCUMENT = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');

describe('the types of webhooks', () => {
  it('stand in docs/webhooks.md as the table has them, and no others', () => {
    const rows = Object.entries(ANNOUNCEMENT_TYPES).map(([type, { means, data }]) => {
      const fields = Object.keys(data).map((field) => `\`${field}\``);
      return `| \`${type}\` | ${means} | ${fields.join(' ')} |`;
    });
    const documented = DOCUMENT.split('\n').filter((line) => /^\| `[a-z_]+\.[a-z_]+` \|/.test(line));
    expect(documented).toEqual(rows);
  });

  it('stand in the OpenAPI document, with the members of each', () => {
    const { webhooks } = openApiDocument(ROUTES) as { webhooks: Record<string, any> };
    expect(Object.keys(webhooks)).toEqual([...Object.keys(ANNOUNCEMENT_TYPES), 'endpoint.test']);
    for (const [type, { data }] of Object.entries(ANNOUNCEMENT_TYPES)) {
      const { schema } = webhooks[type].post.requestBody.content['application/json'];
      expect(schema.properties.type).toEqual({ const: type });
      expect(Object.keys(schema.properties.data.properties)).toEqual(Object.keys(data));
    }
  });

  it.each(['refund.requested', 'order.expiry_requested', 'dead_letter.decided', 'delivery.requested', 'toString'])(
    'do not hold %s, which is our own business',
    (type) => {
      expect(isAnnouncementType(type)).toBe(false);
    },
  );
});

describe('the body of a webhook', () => {
  const event = {
    ...{ id: 'outbox:7', type: 'order.paid', at: new Date('2026-11-30T21:42:07.113Z'), aggregateVersion: 3n },
    payload: {
      ...{ order_id: 'ord_1', source: 'sim', payment_id: null, amount: '9007199254740993', currency: 'EUR' },
      customer_email: 'ada@example.org',
    },
  };

  it('holds amounts as JSON integers, to the last digit, and leaves out what has no value', () => {
    expect(webhookBody(event)).toBe(
      '{"id":"outbox:7","type":"order.paid","timestamp":"2026-11-30T21:42:07.113Z","aggregate_version":3,' +
        '"data":{"order_id":"ord_1","source":"sim","amount":9007199254740993,"currency":"EUR"}}',
    );
  });

  it('tells nothing that its type does not name', () => {
    expect(announcedData('order.paid', event.payload)).not.toHaveProperty('customer_email');
  });
});
