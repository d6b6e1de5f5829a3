import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { findMissingWorkflowId, reconcileWorkflowId } from '../domain/keys.ts';
import type { Logger } from '../telemetry/log.ts';
import { type ScheduledWorkflowName, TASK_QUEUE } from '../workflows/messages.ts';

interface Schedule {
  readonly id: string;
  readonly workflow: ScheduledWorkflowName;
  /** As Temporal writes durations. */
  readonly every: '1m' | '5m' | '1h';
  /** What a person reads in the list of schedules and of runs. */
  readonly summary: string;
}

const SCHEDULES: readonly Schedule[] = [
  {
    id: 'reap-idempotency-keys',
    workflow: 'reapIdempotencyKeys',
    // An interrupted request has waited out its lease by then; another minute is no longer than that.
    every: '1m',
    summary: 'Completes interrupted API requests from what they reserved, and forgets old answers',
  },
  {
    id: 'clean-up',
    workflow: 'cleanUp',
    // What is removed is weeks old: an hour more is nothing, and each run has little to do.
    every: '1h',
    summary: 'Removes announcements that were published long ago',
  },
  {
    id: 'audit',
    workflow: 'audit',
    // Work that is stuck counts as broken after an hour; on a hundred thousand orders a run takes seconds.
    every: '1h',
    summary: 'Checks every promise on the database, and has people told of what is broken',
  },
];

/** A run that was terminated, or lost with the engine's data, is missed for no longer than this and a look takes. */
function reconcileSchedule(source: string): Schedule {
  const summary = `Starts the work of ${source} again whose runs are gone`;
  return { id: reconcileWorkflowId(source), workflow: 'reconcile', every: '5m', summary };
}

/** A customer whose webhook was lost waits for no longer than this and `policies.missing_webhook_after`. */
function findMissingSchedule(source: string): Schedule {
  const summary = `Looks for webhooks of ${source} that never came`;
  return { id: findMissingWorkflowId(source), workflow: 'findMissingWebhooks', every: '5m', summary };
}

/** A server that does not answer by then must not keep the worker from its work. */
const LONGEST_WAIT_MS = 5_000;

/**
 * Makes the schedules that our own jobs run by, or brings those that are there up to date; one that a person paused stays
 * paused. Every worker does it at its start, for the sources that it is configured with. Where the server forbids it the
 * worker works without: it says so in one line.
 */
export async function ensureSchedules(
  client: Client,
  log: Logger,
  sources: readonly { readonly name: string; readonly listsEvents: boolean }[],
): Promise<void> {
  const deadline = Date.now() + LONGEST_WAIT_MS;
  const schedules = [
    ...SCHEDULES,
    ...sources.map(({ name }) => reconcileSchedule(name)),
    ...sources.filter(({ listsEvents }) => listsEvents).map(({ name }) => findMissingSchedule(name)),
  ];
  await Promise.all(
    schedules.map(async (schedule) => {
      try {
        await client.withDeadline(deadline, () => ensure(client, schedule));
      } catch (err) {
        const { id, workflow, every } = schedule;
        log.warn({ schedule: id, err }, `schedule not made: start ${workflow} every ${every} by other means`);
      }
    }),
  );
}

async function ensure({ schedule: schedules }: Client, { id, workflow, every, summary }: Schedule): Promise<void> {
  const wanted = {
    spec: { intervals: [{ every }] },
    action: {
      type: 'startWorkflow' as const,
      ...{ workflowType: workflow, workflowId: id, taskQueue: TASK_QUEUE, args: [], staticSummary: summary },
    },
    // Each run takes up all that is there: one at a time is enough, and none needs to be caught up.
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: every },
  };
  try {
    await schedules.create({ scheduleId: id, ...wanted });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await schedules.getHandle(id).update((before) => ({ ...wanted, state: before.state }));
  }
}
