import { lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** An address that must not be called. The sentence says why; it names the host, and nothing else of the URL. */
export class AddressNotAllowed extends Error {
  override readonly name = 'AddressNotAllowed';
}

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

export type ResolveName = (host: string) => Promise<readonly ResolvedAddress[]>;

export interface AddressGuard {
  /**
   * The addresses that a URL leads to, each of them allowed. Whoever calls it connects to these and asks no name server
   * again: an answer that changes in between must not lead elsewhere.
   *
   * @throws AddressNotAllowed; what the resolver throws where the name cannot be resolved
   */
  resolve(url: string): Promise<readonly ResolvedAddress[]>;
}

/** Everything that is not the public Internet: this machine, private and local networks, carriers', test and future ones. */
const NOT_PUBLIC_V4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
];
/** All that is public lies in here; IPv4-mapped, NAT64, unique local, link-local and multicast addresses lie outside. */
const PUBLIC_V6 = '2000::/3';
/** Within it: protocols (Teredo among them), documentation, and 6to4, which carries an IPv4 address. */
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const SCHEMES: readonly string[] = ['http:', 'https:'];

/**
 * Keeps outgoing webhooks, whose addresses others name, away from what only we can reach (SSRF).
 *
 * @param allowNetworks in CIDR form; reachable although they are not public
 */
export function createAddressGuard(
  allowNetworks: readonly string[],
  resolveName: ResolveName = (host) => systemLookup(host, { all: true }) as Promise<ResolvedAddress[]>,
): AddressGuard {
  const allowed = networks(allowNetworks);
  const publicV6 = networks([PUBLIC_V6]);
  const notPublic = { 4: networks(NOT_PUBLIC_V4), 6: networks(NOT_PUBLIC_V6) };
  const isAllowed = ({ address, family }: ResolvedAddress) => {
    const type = family === 6 ? 'ipv6' : 'ipv4';
    if (allowed.check(address, type)) return true;
    return (family === 4 || publicV6.check(address, type)) && !notPublic[family].check(address, type);
  };
  return {
    async resolve(url) {
      const host = hostOf(url);
      const family = isIP(host);
      const found = family === 0 ? await inTime(resolveName(host)) : [{ address: host, family: family as 4 | 6 }];
      // One that is not public among several would be connected to now and then.
      const refused = found.find((one) => !isAllowed(one));
      if (refused !== undefined) {
        const where = host === refused.address ? host : `${host} (${refused.address})`;
        throw new AddressNotAllowed(`${where} is not a public address: list its network in outgoing.allow_networks.`);
      }
      if (found.length === 0) throw new AddressNotAllowed(`${host} has no address.`);
      return found;
    },
  };
}

/** The system's resolver goes on for half a minute where no name server answers. */
const RESOLVE_TIMEOUT_MS = 5_000;

async function inTime<T>(resolving: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(Object.assign(new Error('No name server answered in time.'), { code: 'ETIMEOUT' }));
    }, RESOLVE_TIMEOUT_MS);
  });
  return Promise.race([resolving, late]).finally(() => clearTimeout(timer));
}

/** The host of a URL that may be called at all, as it is resolved: no brackets; numbers in any spelling are dotted by now. */
function hostOf(url: string): string {
  if (!URL.canParse(url)) throw new AddressNotAllowed('This is not a URL.');
  const { protocol, username, password, hostname } = new URL(url);
  if (!SCHEMES.includes(protocol)) throw new AddressNotAllowed('Only http and https addresses can be called.');
  if (username !== '' || password !== '')
    throw new AddressNotAllowed('An address with a user or password is not kept.');
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function networks(list: readonly string[]): BlockList {
  const block = new BlockList();
  for (const network of list) {
    const [address = '', bits = ''] = network.split('/');
    block.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return block;
}

/** A resolver that knows these addresses and asks nobody. */
export function pinnedLookup(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}
