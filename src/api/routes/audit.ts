import { defineRoute, json } from '../route.ts';
import { audit } from '../schemas/operations.ts';

export const getAudit = defineRoute({
  method: 'GET',
  path: '/v1/audit',
  scope: 'ops:read',
  summary: 'Check every promise on the whole database, now.',
  answers: { 200: { description: 'Also where promises are broken.', schema: audit } },
  async handle(deps) {
    const { ok, checked, violations } = await deps.audit();
    return json(200, { ok, checked, violations });
  },
});
