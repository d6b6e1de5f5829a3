import { escapeHtml } from '../domain/escape-html.ts';

/** No scripts, no assets of others: the pages below need none. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'x-content-type-options': 'nosniff',
} as const;

const STYLE = `
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; background: #fff }
  h2 { font-size: 1rem; margin: 2rem 0 .25rem } code { font: .9em ui-monospace, monospace } td { padding: .1rem 1rem .1rem 0; vertical-align: top }
  .method { display: inline-block; min-width: 3.5rem; font-weight: 600 } .quiet { color: #57606a }
  pre { background: #f6f8fa; padding: .75rem; overflow: auto; font-size: .85rem }
  @media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 } pre { background: #161b22 } .quiet { color: #8b949e } a { color: #79b8ff } }`;

/** What stands at `/`. */
export function homePage(): string {
  return htmlPage(
    'paidonce',
    `<h1>paidonce</h1>
     <p>Payment webhooks arrive at least once; the money and its consequences happen exactly once.</p>
     <ul><li><a href="/docs">The API</a> (<a href="/openapi.json">OpenAPI</a>)</li>
     <li><a href="/readyz">Is it ready?</a> · <a href="/metrics">Metrics</a></li></ul>`,
  );
}

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

/** A plain reader of the OpenAPI document. */
export function docsPage(document: Readonly<Record<string, unknown>>): string {
  const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  const { schemas } = document['components'] as { schemas: Readonly<Record<string, unknown>> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationSection(method, path, operation)),
  );
  const models = Object.entries(schemas).map(
    ([name, schema]) => `<h2 id="${escapeHtml(name)}">${escapeHtml(name)}</h2>${source(schema)}`,
  );
  return htmlPage(
    'paidonce: the API',
    `<h1>The API</h1><p>As a document for machines: <a href="/openapi.json">openapi.json</a>.</p>
     ${operations.join('')}<h1>Schemas</h1>${models.join('')}`,
  );
}

function operationSection(method: string, path: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).map(
    (p) =>
      `<tr><td><code>${escapeHtml(p.name)}</code></td><td>${escapeHtml(p.in)}${p.required ? ', required' : ''}</td></tr>`,
  );
  const body = operation.requestBody?.content['application/json']?.schema;
  const responses = Object.entries(operation.responses).map(
    ([status, { description }]) => `<tr><td>${escapeHtml(status)}</td><td>${escapeHtml(description)}</td></tr>`,
  );
  return `<h2><span class="method">${escapeHtml(method.toUpperCase())}</span> <code>${escapeHtml(path)}</code></h2>
    <p>${escapeHtml(operation.summary)} <span class="quiet">${escapeHtml(operation.description ?? '')}</span></p>
    <table>${parameters.join('')}</table>${body === undefined ? '' : source(body)}<table>${responses.join('')}</table>`;
}

function source(schema: unknown): string {
  return `<pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre>`;
}

function htmlPage(title: string, content: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
    <title>${escapeHtml(title)}</title><style>${STYLE}</style><main>${content}</main></html>`;
}
