import pino, { type Bindings, type ChildLoggerOptions, type DestinationStream, type Logger } from 'pino';
import { redact, redactText } from './redact.ts';

export type { Logger } from 'pino';

/**
 * A logger that writes one JSON line per outcome to the standard output, with secrets, e-mail addresses and card data
 * censored.
 *
 * @param level the least level that is written; `silent` writes nothing
 * @param name the process: `server`, `worker`, `simulator`
 */
export function createLogger(
  level: string,
  name: string,
  destination: DestinationStream = pino.destination(1),
): Logger {
  const logger = pino(
    {
      level,
      base: { name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        bindings: redactFields,
        log: redactFields,
      },
      serializers: {
        err: (error: unknown) => redact(pino.stdSerializers.err(error as Error)),
        // The message is a text of its own, an error's perhaps, that no formatter sees.
        msg: (message: unknown) => (typeof message === 'string' ? redactText(message) : message),
      },
    },
    destination,
  );
  // Pino hands the fields of a child to no formatter; children inherit this method, and so do theirs.
  const child = Reflect.get(logger, 'child') as unknown as Child;
  const redactedChild: Child = function (fields, options) {
    return child.call(this, redactFields(fields), options);
  };
  return Object.assign(logger, { child: redactedChild as unknown as Logger['child'] });
}

type Child = (this: Logger, fields: Bindings, options?: ChildLoggerOptions) => Logger;

/** An error stays one until its serializer has read its message, stack and causes. */
function redactFields(fields: Record<string, unknown>): Record<string, unknown> {
  const { err, ...others } = fields;
  return { ...(redact(others) as Record<string, unknown>), ...(err === undefined ? {} : { err }) };
}
