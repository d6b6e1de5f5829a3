import { TestWorkflowEnvironment } from '@temporalio/testing';

/**
 * Lets the Temporal SDK download one of its servers into a folder: `download-by-sdk.ts temporal|temporal-test-server
 * FOLDER`. A process of its own, since the SDK takes over signals and cannot be interrupted.
 */
const [name, downloadDir = '.'] = process.argv.slice(2);
const server = { executable: { type: 'cached-download', downloadDir } } as const;
const environment =
  name === 'temporal'
    ? await TestWorkflowEnvironment.createLocal({ server })
    : await TestWorkflowEnvironment.createTimeSkipping({ server });
await environment.teardown();
