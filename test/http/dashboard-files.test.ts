import assert from 'node:assert/strict'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { tempDir } from '../../testkit/engines.ts'
import { KEYS, openApp } from './support.ts'

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const SCRIPT = 'export const one = 1\n'

/** A folder as the build leaves it. */
async function builtIn(t: TestContext): Promise<string> {
  const folder = await tempDir(t)
  const files = {
    'index.html': '<meta name="csp-nonce" content="CSP_NONCE"><div id="root"></div>',
    'assets/index-abc.js': SCRIPT,
    'assets/index-abc.js.br': brotliCompressSync(SCRIPT),
    'assets/index-abc.js.gz': gzipSync(SCRIPT),
    'static/favicon-ok.svg': '<svg/>',
    '.made-of': 'secret of the build',
  }
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(folder, dirname(path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  return folder
}

async function open(t: TestContext, options: Parameters<typeof openApp>[2] = {}) {
  return openApp(t, undefined, { dashboardFolder: await builtIn(t), ...options })
}

for (const path of ['/', '/sites/7d444840-9dc0-41d1-b245-5ffdce74fad2?range=7d', '/tags/a.b', '/apis']) {
  test(`a browser that goes to ${path} gets the dashboard`, async (t) => {
    const app = await open(t)
    const answer = await app.inject({ url: path, headers: BROWSER })
    assert.equal(answer.statusCode, 200)
    assert.match(String(answer.headers['content-type']), /^text\/html/)
    assert.match(answer.body, /id="root"/)
  })
}

test('without JavaScript the document says what it needs in words that fit a shared page too', async () => {
  const page = await readFile(join(import.meta.dirname, '../../web/index.html'), 'utf8')
  assert.match(page, /<noscript>This page needs JavaScript\./)
})

const NO_PAGES = [
  '/api/unknown',
  '/api',
  '/%61pi/unknown',
  '/assets/index-old.js',
  '/static/x.svg',
  '/metrics',
  '/ingest',
  '/ready',
]

for (const path of NO_PAGES) {
  test(`${path} is no page, even where a browser asks and nothing answers`, async (t) => {
    const answer = await (await open(t)).inject({ url: path, headers: BROWSER })
    assert.equal(answer.statusCode, 404)
    assert.equal(answer.json().error, 'not_found')
  })
}

test('who takes anything gets the dashboard too, as on a command line', async (t) => {
  const app = await open(t)
  for (const headers of [{ accept: '*/*' }, {}]) {
    for (const url of ['/', '/sites', '/sites?range=7d']) {
      const answer = await app.inject({ url, headers })
      assert.equal(answer.statusCode, 200, url)
      assert.match(answer.body, /id="root"/)
    }
    assert.equal((await app.inject({ url: '/api/unknown', headers })).json().error, 'not_found')
  }
})

test('what asks for no HTML, for a file or to change something gets no page', async (t) => {
  const app = await open(t)
  for (const accept of ['application/json', 'image/avif,image/webp', 'text/css']) {
    assert.equal((await app.inject({ url: '/sites', headers: { accept } })).statusCode, 404)
  }
  for (const url of ['/favicon.ico', '/robots.txt', '/old.js?v=1']) {
    assert.equal((await app.inject({ url, headers: { accept: 'image/avif,*/*;q=0.8' } })).statusCode, 404, url)
  }
  assert.equal((await app.inject({ method: 'POST', url: '/sites', headers: BROWSER })).statusCode, 404)
})

test('unknown paths of the interface still ask for a key first', async (t) => {
  const app = await open(t, { access: KEYS })
  for (const url of ['/api/unknown', '/%61pi/unknown', '/api?x=1']) {
    assert.equal((await app.inject({ url, headers: BROWSER })).statusCode, 401, url)
  }
  assert.equal((await app.inject({ url: '/', headers: BROWSER })).statusCode, 200)
})

test('the page lets nothing in but files of its own, and styles with the nonce of this answer', async (t) => {
  const app = await open(t)
  const answers = [await app.inject({ url: '/', headers: BROWSER }), await app.inject({ url: '/', headers: BROWSER })]
  const nonces = answers.map(({ body, headers }) => {
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /script-src 'self';/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe|https?:|\*/)
    const [, nonce = ''] = /style-src 'self' 'nonce-([\w-]{22})'/.exec(policy) ?? []
    assert.match(body, new RegExp(`content="${nonce}"`))
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['cache-control'], 'no-store')
    return nonce
  })
  assert.equal(new Set(nonces).size, 2)
})

test('assets are kept forever, and sent compressed to those who can read it', async (t) => {
  const app = await open(t)
  const get = (encoding: string) =>
    app.inject({ url: '/assets/index-abc.js', headers: { 'accept-encoding': encoding } })
  const [plain, gzip, brotli] = [await get('identity'), await get('gzip'), await get('gzip, deflate, br')]
  assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
  assert.match(String(plain.headers['content-type']), /^(?:text|application)\/javascript/)
  assert.equal(plain.body, SCRIPT)
  assert.deepEqual([gzip.headers['content-encoding'], gzip.rawPayload], ['gzip', gzipSync(SCRIPT)])
  assert.deepEqual([brotli.headers['content-encoding'], brotli.rawPayload], ['br', brotliCompressSync(SCRIPT)])
})

test('files without a hash in their name are asked for each time, and answered 304', async (t) => {
  const app = await open(t)
  const first = await app.inject('/static/favicon-ok.svg')
  assert.deepEqual([first.statusCode, first.headers['cache-control']], [200, 'no-cache'])
  const etag = String(first.headers.etag)
  assert.equal(
    (await app.inject({ url: '/static/favicon-ok.svg', headers: { 'if-none-match': etag } })).statusCode,
    304,
  )
})

test('nothing but the two folders and the page is served', async (t) => {
  const app = await open(t)
  for (const url of ['/.made-of', '/index.html', '/assets/../.made-of', '/assets/%2e%2e/.made-of']) {
    const answer = await app.inject({ url, headers: { accept: '*/*' } })
    assert.equal(answer.statusCode, 404, url)
    assert.doesNotMatch(answer.body, /secret/)
  }
})

test('without a build the page says how to make one, and shows it as soon as it is there', async (t) => {
  const folder = await builtIn(t)
  await rm(join(folder, 'index.html'))
  const app = await openApp(t, undefined, { dashboardFolder: folder })
  const before = await app.inject({ url: '/', headers: BROWSER })
  assert.equal(before.statusCode, 503)
  assert.match(before.body, /The dashboard is not built.*npm start/s)
  await writeFile(join(folder, 'index.html'), 'built')
  assert.equal((await app.inject({ url: '/', headers: BROWSER })).body, 'built')
})

test('a node that is not for people serves no dashboard', async (t) => {
  const app = await open(t, { isForPeople: false })
  for (const url of ['/', '/assets/index-abc.js']) {
    assert.equal((await app.inject({ url, headers: BROWSER })).statusCode, 404)
  }
})
