import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import files from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { refuseUnknownPath } from './errors.ts'
import { pathOf } from './formats.ts'
import type { HttpApp } from './schemas.ts'

/** Answers browsers at addresses that nothing else answers with the dashboard's page, which has its own routes. */
export type PageHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

const PLACEHOLDER = 'CSP_NONCE'

/** A page without styles, because there is no build to take them from. */
const NOT_BUILT = `<!doctype html>
<html lang="en">
<title>Tagwarden</title>
<h1>The dashboard is not built</h1>
<p>Tagwarden runs and takes data. To build its dashboard, run <code>npm start</code> or
<code>node scripts/ensure-dashboard.mjs</code> in its folder, then reload this page.
It needs the development packages: <code>npm ci</code> without <code>--omit=dev</code>.</p>
<p>The API is described at <a href="/api/docs">/api/docs</a>.</p>
</html>
`

/**
 * Nothing from other hosts, no inline scripts, no framing. Components create `<style>` elements at run time, so the page carries
 * a nonce for them.
 */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Anyone who has such an address may read what is there, so no request of its page names it. */
const SECRET_ADDRESS = /^\/status\//i

/**
 * Serves the files of `vite build`, and returns the handler for everything else.
 *
 * @param folder the build's folder; it may be missing, or rebuilt while we run
 */
export async function serveDashboard(app: HttpApp, folder: string): Promise<PageHandler> {
  // Names of assets contain the hash of their content.
  await serveFiles(app, folder, 'assets', 'public, max-age=31536000, immutable')
  await serveFiles(app, folder, 'static', 'no-cache')
  const page = join(folder, 'index.html')
  return async (request, reply) => {
    if (!wantsPage(request)) refuseUnknownPath(request)
    const nonce = randomBytes(16).toString('base64url')
    const html = await readFile(page, 'utf8').catch(() => null)
    return reply
      .code(html === null ? 503 : 200)
      .type('text/html; charset=utf-8')
      .headers({
        'content-security-policy': policyWith(nonce),
        'referrer-policy': SECRET_ADDRESS.test(pathOf(request.url)) ? 'no-referrer' : 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        // Each answer has its own nonce.
        'cache-control': 'no-store',
      })
      .send(html?.replaceAll(PLACEHOLDER, nonce) ?? NOT_BUILT)
  }
}

/** Paths of the API and of tags: an unknown address there is a program's error, even when a browser requests it. */
const NO_PAGES = /^\/(?:api|badge|ingest|assets|static|metrics|health|ready)(?:\/|$)/

async function serveFiles(app: HttpApp, folder: string, name: string, cacheControl: string): Promise<void> {
  await app.register(files, {
    root: join(folder, name),
    prefix: `/${name}/`,
    index: false,
    decorateReply: false,
    cacheControl: false,
    preCompressed: true,
    // The folder may appear with a later build.
    suppressWarning: true,
    setHeaders: (reply) => {
      reply.header('cache-control', cacheControl)
    },
  })
}

/** Ending of a path to a file, which is not a page. */
const FILE = /\.[\w-]{1,16}$/

/**
 * Browsers accept HTML when they navigate, but not for what a page loads. A client that accepts anything, such as a command line,
 * gets the page too, except for a missing file.
 */
function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  const path = pathOf(url)
  if ((method !== 'GET' && method !== 'HEAD') || NO_PAGES.test(path)) return false
  const { accept = '*/*' } = headers
  return accept.includes('text/html') || (accept.includes('*/*') && !FILE.test(path))
}
