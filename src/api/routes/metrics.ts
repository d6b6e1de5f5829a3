import { defineRoute } from '../route.ts';

export const getMetrics = defineRoute({
  method: 'GET',
  path: '/metrics',
  scope: null,
  summary: "This process's counts, for Prometheus.",
  answers: { 200: { description: 'Text as Prometheus reads it.', schema: null } },
  async handle({ metrics: { registry } }) {
    return { status: 200, headers: { 'content-type': registry.contentType }, body: await registry.metrics() };
  },
});
