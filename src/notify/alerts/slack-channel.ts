import { expectTaken } from '../expect-taken.ts';
import { postJson } from '../post-json.ts';
import type { AlertChannel } from './alert-channel.ts';
import { alertText } from './alert-text.ts';

/** Chat services answer within a second. */
const TIMEOUT_MS = 10_000;

/** An incoming webhook of Slack's, or of another that understands `{"text": …}`. */
export function createSlackChannel({ url }: { readonly url: string }): AlertChannel {
  return {
    name: 'slack',
    async send(message, signal) {
      const { title, lines } = alertText(message);
      const text = [`*${plain(title)}*`, ...lines.map(plain)].join('\n');
      const answer = await postJson({
        ...{ name: 'alerts by slack', url, signal, timeoutMs: TIMEOUT_MS },
        body: JSON.stringify({ text }),
      });
      expectTaken('alerts by slack', answer);
    },
  };
}

/** An id is somebody else's text: `<!channel>` in it must not ring everybody's telephone. */
function plain(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
