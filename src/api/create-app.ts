import express, {
  type ErrorRequestHandler,
  type Express,
  type NextFunction,
  type Request,
  type Response,
} from 'express';
import { Problem } from '../domain/problem.ts';
import { authenticate } from './authenticate.ts';
import type { ApiDeps } from './deps.ts';
import { newRequestId } from './new-request-id.ts';
import { openApiDocument } from './openapi.ts';
import { docsPage, homePage, PAGE_HEADERS } from './pages.ts';
import { type HttpAnswer, problemResponse } from './problem-response.ts';
import { ROUTES } from './routes/index.ts';
import { problemOf, send, serveRoute } from './serve-route.ts';

const METHODS = { GET: 'get', POST: 'post', PATCH: 'patch' } as const;

/** The API on Express: routing only; reading, checking and answering are the same for every route and ours. */
export function createApp(deps: ApiDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  for (const route of ROUTES) {
    const path = expressPath(route.path);
    const serve = (request: Request, response: Response): Promise<void> =>
      serveRoute(deps, route, request.params as Record<string, string>, request, response);
    app[METHODS[route.method]](path, serve);
  }
  const document = openApiDocument(ROUTES);
  page(app, '/openapi.json', { 'content-type': 'application/json' }, JSON.stringify(document));
  page(app, '/docs', PAGE_HEADERS, docsPage(document));
  page(app, '/', PAGE_HEADERS, homePage());
  refuseOtherMethods(app);
  // Whoever has no key learns nothing of what there is.
  app.use('/v1', async (request: Request, _response: Response, next: NextFunction) => {
    await authenticate(deps.pool, request.headers.authorization, null);
    next();
  });
  app.use((_request: Request, response: Response) => {
    refuse(response, new Problem('not_found', 'There is no such route; /docs lists them.'));
  });
  app.use(answerErrors(deps));
  return app;
}

/** `/v1/orders/{order_id}` as Express writes it. */
function expressPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function page(app: Express, path: string, headers: HttpAnswer['headers'], body: string): void {
  app.get(path, (_request, response) => send(response, { status: 200, headers, body }, newRequestId()));
}

function refuseOtherMethods(app: Express): void {
  const paths = [...new Set(ROUTES.map((route) => route.path))];
  // `/v1/orders/import` before `/v1/orders/{order_id}`, which would take it for an order's id.
  for (const path of paths.toSorted((a, b) => a.split('{').length - b.split('{').length)) {
    const methods = ROUTES.filter((route) => route.path === path).map((route) => route.method);
    const allow = methods.includes('GET') ? [...methods, 'HEAD'].join(', ') : methods.join(', ');
    app.all(expressPath(path), (_request, response) => {
      refuse(response, new Problem('method_not_allowed', `Allowed here: ${allow}.`, { headers: { allow } }));
    });
  }
}

function refuse(response: Response, problem: Problem): void {
  const requestId = newRequestId();
  send(response, problemResponse(problem, requestId), requestId);
}

function answerErrors(deps: ApiDeps): ErrorRequestHandler {
  // Express knows an error handler by its four parameters.
  return (error: unknown, _request, response, next) => {
    if (response.headersSent) return next(error);
    const requestId = newRequestId();
    send(response, problemResponse(problemOf(deps, error, requestId), requestId), requestId);
  };
}
