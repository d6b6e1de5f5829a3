import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import {
  AddressNotAllowed,
  createAddressGuard,
  type AddressGuard,
  type ResolvedAddress,
} from '../../src/notify/address-guard.ts';
import { expectTaken } from '../../src/notify/expect-taken.ts';
import { sendWebhook } from '../../src/notify/send-webhook.ts';
import { isSignedWith, startReceiver } from '../support/receiver.ts';

const address = (text: string): ResolvedAddress => ({ address: text, family: text.includes(':') ? 6 : 4 });

/** A guard for which every name has these addresses, and the numbers stand for themselves. */
const guardFor = (addresses: readonly string[], allow: readonly string[] = []): AddressGuard =>
  createAddressGuard(allow, () => Promise.resolve(addresses.map(address)));

const NOT_PUBLIC = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.1.1'],
  ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.0.1'],
  ...['198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1'],
  ...['255.255.255.255'],
  ...['::', '::1', 'fc00::1', 'fd12:3456::1', 'fe80::1', 'fec0::1', 'ff02::1', '100::1', '2001:db8::1', '3fff::1'],
  // An IPv4 address in an IPv6 one: mapped, compatible, NAT64, local NAT64, 6to4, Teredo.
  ...[
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001::1',
  ],
];
const PUBLIC = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.0'],
  ...['192.167.255.255', '198.17.255.255', '223.255.255.255', '2606:4700::1111', '2a00:1450::1', '2001:4860::8888'],
];

describe('an address that is not of the public Internet', () => {
  it.each(NOT_PUBLIC)('is refused as the answer of a name server: %s', async (one) => {
    await expect(guardFor([one]).resolve('https://name.example/')).rejects.toThrow(AddressNotAllowed);
  });

  it.each(NOT_PUBLIC)('is refused when it stands in the URL: %s', async (one) => {
    const host = one.includes(':') ? `[${one}]` : one;
    await expect(guardFor([]).resolve(`https://${host}/`)).rejects.toThrow(AddressNotAllowed);
  });

  it.each(['http://2130706433/', 'http://0x7f.1/', 'http://0177.0.0.1/', 'http://127.1/', 'http://[::FFFF:7F00:1]/'])(
    'is refused however it is spelt: %s',
    async (url) => {
      await expect(guardFor([]).resolve(url)).rejects.toThrow(AddressNotAllowed);
    },
  );

  it('is refused beside public ones', async () => {
    await expect(guardFor(['8.8.8.8', '10.0.0.1']).resolve('https://name.example/')).rejects.toThrow('10.0.0.1');
  });

  it('is called where its network is allowed, and no other', async () => {
    const guard = (one: string) => guardFor([one], ['10.1.0.0/16', 'fd00::/8']).resolve('http://name.example/');
    await expect(guard('10.1.2.3')).resolves.toEqual([address('10.1.2.3')]);
    await expect(guard('fd12::1')).resolves.toEqual([address('fd12::1')]);
    await expect(guard('10.2.0.1')).rejects.toThrow(AddressNotAllowed);
    await expect(guard('fc00::1')).rejects.toThrow(AddressNotAllowed);
  });
});

it.each(PUBLIC)('a public address is called: %s', async (one) => {
  await expect(guardFor([one]).resolve('https://name.example/')).resolves.toEqual([address(one)]);
});

it.each([
  'ftp://name.example/',
  'file:///etc/passwd',
  'gopher://name.example/',
  'https://user:word@name.example/',
  'https://user@name.example/',
  'name',
])('an address that is no plain http one is refused: %s', async (url) => {
  await expect(guardFor(['8.8.8.8']).resolve(url)).rejects.toThrow(AddressNotAllowed);
});

it('a name without an address is refused', async () => {
  await expect(guardFor([]).resolve('https://name.example/')).rejects.toThrow(AddressNotAllowed);
});

describe('a webhook that is sent', () => {
  const SECRET = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`;
  const message = { id: 'outbox:1', body: '{"type":"order.paid"}' };
  const servers: { close(): unknown }[] = [];
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  it('goes to exactly the address that was checked, whatever the name says a moment later', async () => {
    const receiver = await startReceiver();
    servers.push(receiver);
    let asked = 0;
    // The first answer may be called; every later one leads to something inside.
    const guard = createAddressGuard(['127.0.0.1/32'], () => {
      asked += 1;
      return Promise.resolve([address(asked === 1 ? '127.0.0.1' : '127.0.0.2')]);
    });
    const url = receiver.url.replace('127.0.0.1', 'rebinding.example');
    const target = { url, secrets: [SECRET] };
    expect(await sendWebhook(target, message, { guard, timeoutMs: 5_000 })).toMatchObject({ status: 204 });
    expect(asked).toBe(1);
    const [webhook] = receiver.received;
    if (webhook === undefined) throw new Error('Nothing was received.');
    expect(webhook.headers.host).toMatch(/^rebinding\.example:/);
    expect(isSignedWith(SECRET, webhook)).toBe(true);
    await expect(sendWebhook(target, message, { guard, timeoutMs: 5_000 })).rejects.toThrow('127.0.0.2');
    expect(receiver.received).toHaveLength(1);
  });

  it('follows no redirect: it is a failure that says so', async () => {
    const inside = await startReceiver();
    const door = await startReceiver();
    servers.push(inside, door);
    door.answer({ status: 302, headers: { location: inside.url } });
    const guard = createAddressGuard(['127.0.0.0/8']);
    const answer = await sendWebhook({ url: door.url, secrets: [SECRET] }, message, { guard, timeoutMs: 5_000 });
    expect(() => expectTaken('The endpoint', answer)).toThrow(/302, a redirect, which is not followed/);
    expect(inside.received).toEqual([]);
  });

  it('is taken by its status, though its answer has no end', async () => {
    const endless = createServer((_request, response) => {
      response.writeHead(200);
      const pour = (): void => {
        while (response.writable && response.write(Buffer.alloc(64 * 1024)));
      };
      response.on('drain', pour).on('error', () => undefined);
      pour();
    });
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    servers.push(endless);
    const url = `http://127.0.0.1:${(endless.address() as AddressInfo).port}/`;
    const guard = createAddressGuard(['127.0.0.0/8']);
    const answer = await sendWebhook({ url, secrets: [SECRET] }, message, { guard, timeoutMs: 5_000 });
    expect(answer.status).toBe(200);
    expect(answer.body.length).toBeLessThanOrEqual(16 * 1024);
  });

  it('is taken by its status, though its answer stops half-way', async () => {
    const halting = createServer((_request, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('half ');
    });
    await new Promise<void>((resolve) => halting.listen(0, '127.0.0.1', resolve));
    servers.push({
      close() {
        halting.closeAllConnections();
        halting.close();
      },
    });
    const url = `http://127.0.0.1:${(halting.address() as AddressInfo).port}/`;
    const guard = createAddressGuard(['127.0.0.0/8']);
    const answer = await sendWebhook({ url, secrets: [SECRET] }, message, { guard, timeoutMs: 500 });
    expect(answer.status).toBe(200);
  });
});
