import { ApplicationFailure } from '@temporalio/common';
import type { Source } from '../gateways/admitted.ts';
import type { Dependencies } from './dependencies.ts';

/**
 * The configured account of that name. One that was taken out of the configuration while money of it is in doubt is asked for again and
 * again: putting it back lets everything go on.
 */
export function sourceOf(deps: Pick<Dependencies, 'sources'>, name: string): Source {
  const source = deps.sources.get(name);
  if (source === undefined) {
    throw ApplicationFailure.create({
      type: 'UnknownSource',
      message: `Source ${name} is not configured in this worker: add it to the configuration file and restart.`,
    });
  }
  return source;
}
