import type { Random } from '../../../testkit/random.ts'

/** A connection's bytes that bend or break HTTP itself. */
export interface FramingAttack {
  name: string
  bytes: Buffer
  /** Where the bytes are cut into packets. */
  pauses?: number[]
  hangUp?: boolean
}

export interface FramingTargets {
  key: string
  /** A valid payload of one event. */
  body: string
}

const crlf = (...lines: string[]): string => `${lines.join('\r\n')}\r\n`

/** Every trick once. The same list each time: these are the known ways to confuse a server, not random ones. */
export function framingAttacks({ key, body }: FramingTargets): FramingAttack[] {
  const length = Buffer.byteLength(body)
  const post = (headers: string[], content: string, target = '/ingest') =>
    `${crlf(`POST ${target} HTTP/1.1`, 'Host: 127.0.0.1', 'Content-Type: application/json', `X-Service-Key: ${key}`, ...headers)}\r\n${content}`
  const get = (target: string, ...headers: string[]) =>
    `${crlf(`GET ${target} HTTP/1.1`, 'Host: 127.0.0.1', ...headers)}\r\n`
  const chunkedPost = (content: string, ...headers: string[]) =>
    post(['Transfer-Encoding: chunked', ...headers], content)
  const hex = length.toString(16)
  const good = post([`Content-Length: ${length}`], body)
  const smuggled = get('/api/clients')

  const texts: Record<string, string> = {
    'chunked after the rules': chunkedPost(`${hex}\r\n${body}\r\n0\r\n\r\n`),
    'chunk extensions': chunkedPost(`${hex};a=b;c="d;e"\r\n${body}\r\n0;x\r\n\r\n`),
    'a chunk extension of 20 kB': chunkedPost(`${hex};${'a'.repeat(20_000)}\r\n${body}\r\n0\r\n\r\n`),
    trailers: chunkedPost(`${hex}\r\n${body}\r\n0\r\nX-Service-Key: other\r\nContent-Length: 5\r\n\r\n`, 'Trailer: X'),
    'trailers of 20 kB': chunkedPost(`${hex}\r\n${body}\r\n0\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`),
    'a negative chunk size': chunkedPost(`-1\r\n${body}\r\n0\r\n\r\n`),
    'a chunk size of 2^64': chunkedPost(`10000000000000000\r\n${body}\r\n0\r\n\r\n`),
    'a chunk size with 0x': chunkedPost(`0x${hex}\r\n${body}\r\n0\r\n\r\n`),
    'a chunk size with blanks': chunkedPost(` ${hex} \r\n${body}\r\n0\r\n\r\n`),
    'a chunk shorter than said': chunkedPost(`${(length + 9).toString(16)}\r\n${body}\r\n0\r\n\r\n`),
    'a chunk longer than said': chunkedPost(`${(length - 9).toString(16)}\r\n${body}\r\n0\r\n\r\n`),
    'chunks ended by LF': chunkedPost(`${hex}\n${body}\n0\n\n`),
    'chunks without an end': chunkedPost(`${hex}\r\n${body}\r\n`),
    'both lengths': post([`Content-Length: ${length}`, 'Transfer-Encoding: chunked'], `${hex}\r\n${body}\r\n0\r\n\r\n`),
    'both lengths, the other way round': post(
      ['Transfer-Encoding: chunked', 'Content-Length: 4'],
      `0\r\n\r\n${smuggled}`,
    ),
    'Transfer-Encoding twice': post(
      ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
      `0\r\n\r\n${smuggled}`,
    ),
    'Transfer-Encoding: xchunked': post(['Transfer-Encoding: xchunked'], `0\r\n\r\n${smuggled}`),
    'Transfer-Encoding: chunked, identity': post(['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${smuggled}`),
    'Transfer-Encoding with a tab': post(['Transfer-Encoding:\tchunked'], `${hex}\r\n${body}\r\n0\r\n\r\n`),
    'Transfer-Encoding: gzip, chunked': post(['Transfer-Encoding: gzip, chunked'], `${hex}\r\n${body}\r\n0\r\n\r\n`),
    'a blank before the colon': post([`Content-Length : ${length}`], body),
    'two lengths that agree': post([`Content-Length: ${length}`, `Content-Length: ${length}`], body),
    'two lengths that differ': post([`Content-Length: ${length}`, 'Content-Length: 0'], body),
    'a list of lengths': post([`Content-Length: ${length}, ${length}`], body),
    'a negative length': post(['Content-Length: -1'], body),
    'a length with a plus': post([`Content-Length: +${length}`], body),
    'a length of 2^64': post(['Content-Length: 18446744073709551616'], body),
    'a length that is no number': post(['Content-Length: 1e3'], body),
    'an empty length': post(['Content-Length: '], body),
    'a length too short': post([`Content-Length: ${length - 10}`], body),
    'a length too long': post([`Content-Length: ${length + 10}`], body),
    'no length': post([], body),
    'a folded header': post([`Content-Length: ${length}`, 'X-Folded: a\r\n\tb\r\n c'], body),
    'a folded first header': `GET / HTTP/1.1\r\n folded: yes\r\nHost: 127.0.0.1\r\n\r\n`,
    'lines ended by LF': good.replaceAll('\r\n', '\n'),
    'lines ended by CR': get('/health').replaceAll('\r\n', '\r'),
    'NUL in a header': get('/health', 'X: a\0b'),
    'NUL in the target': get('/health\0'),
    'control characters in a header': get('/health', 'X: \x01\x02\x7f\x1b[31m'),
    'a header without a name': get('/health', ': value'),
    'a header without a colon': get('/health', 'novalue'),
    'a header named __proto__': get('/health', '__proto__: x', 'constructor: y'),
    'absolute target': get('http://evil.invalid/health'),
    'absolute target of the interface': get('http://127.0.0.1:1/api/clients'),
    'target *': get('*'),
    'OPTIONS *': 'OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    'target without a slash': get('health'),
    'target //': get('//evil.invalid/%2e%2e'),
    'target with a fragment': get('/health#/../api'),
    'target of 12 kB': get(`/${'a'.repeat(12_000)}`),
    'target of 100 kB': get(`/${'a'.repeat(100_000)}`),
    'a query of 12 kB': get(`/api/clients?${'a=1&'.repeat(3_000)}`),
    'broken percent signs': get('/api/sites/%/%zz/%f0%28%8c%28'),
    'dots in the target': get('/assets/..%2f..%2f..%2fpackage.json'),
    'more dots in the target': get('/assets/../../../../etc/passwd'),
    'a header of 20 kB': get('/health', `X: ${'a'.repeat(20_000)}`),
    'a header of 1 MB': get('/health', `X: ${'a'.repeat(1_000_000)}`),
    'a cookie of 15 kB': get('/api/session', `Cookie: ${'a=b;'.repeat(3_750)}`),
    '10,000 headers': get('/health', ...Array.from({ length: 10_000 }, (_, index) => `X-${index}: 1`)),
    '1,500 short headers': get('/health', ...Array.from({ length: 1_500 }, () => 'a:b')),
    'two hosts': get('/health', 'Host: other'),
    'no host': 'GET /health HTTP/1.1\r\n\r\n',
    'an odd host': get('/api/clients').replace('Host: 127.0.0.1', 'Host: [::1'),
    'HTTP/0.9': 'GET /health\r\n',
    'HTTP/1.0': 'GET /health HTTP/1.0\r\n\r\n',
    'HTTP/1.0, kept alive': 'GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
    'HTTP/1.2': 'GET /health HTTP/1.2\r\nHost: 127.0.0.1\r\n\r\n',
    'HTTP/2.0': 'GET /health HTTP/2.0\r\nHost: 127.0.0.1\r\n\r\n',
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
    'an unknown method': 'FROBNICATE /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    'a method in small letters': 'get /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    CONNECT: 'CONNECT evil.invalid:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    TRACE: 'TRACE / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: secret\r\n\r\n',
    'Expect: 100-continue': post([`Content-Length: ${length}`, 'Expect: 100-continue'], body),
    'Expect: 100-continue without a key': post([`Content-Length: ${length}`, 'Expect: 100-continue'], body).replace(
      key,
      'no',
    ),
    'Expect: something else': post([`Content-Length: ${length}`, 'Expect: 200-ok'], body),
    'Upgrade: websocket': get('/api/stream', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'),
    'Upgrade: h2c': get('/health', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'),
    'Connection: close, keep-alive': get('/health', 'Connection: close, keep-alive'),
    'a body on GET': `${crlf('GET /api/clients HTTP/1.1', 'Host: 127.0.0.1', 'Content-Length: 5')}\r\nhello`,
    'blank lines first': `\r\n\r\n\r\n${get('/health')}`,
    'a TLS hello': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'an SSH greeting': 'SSH-2.0-OpenSSH_9.0\r\n',
    'only blank lines': '\r\n'.repeat(5_000),
    nothing: '',
    'a burst of valid and broken requests': `${good}${get('/health')}${good}GARBAGE\r\n\r\n${good}`,
    '200 requests at once': get('/health').repeat(200),
    '100 reports at once, then rubbish': `${get('/metrics').repeat(100)}\0\0\0`,
    'a large answer, then rubbish': `${get('/api/docs/static/swagger-ui-bundle.js')}\0`,
    'a body of 2 MB': post([`Content-Length: ${2_000_000 + length}`], ' '.repeat(2_000_000) + body),
    'a chunked body of 5 MB': chunkedPost(`4c4b40\r\n${' '.repeat(5_000_000)}\r\n0\r\n\r\n`),
    'a body of 2 MB for the interface': post(['Content-Length: 2000000'], ' '.repeat(2_000_000), '/api/clients'),
    'nesting a million deep': post(['Content-Length: 1000000'], '['.repeat(1_000_000)),
    'a million keys': post(['Content-Length: 1000000'], '{"a":1,'.padEnd(1_000_000, '"a":1,')),
  }
  const attacks: FramingAttack[] = Object.entries(texts).map(([name, text]) => ({
    name,
    bytes: Buffer.from(text, 'latin1'),
  }))
  const bytes = Buffer.from(good, 'latin1')
  return [
    ...attacks,
    { name: 'a byte a packet', bytes, pauses: Array.from({ length: 400 }, (_, index) => index) },
    { name: 'hung up after the head', bytes: bytes.subarray(0, bytes.indexOf('\r\n\r\n') + 4), hangUp: true },
    { name: 'hung up inside the head', bytes: bytes.subarray(0, 40), hangUp: true },
    { name: 'hung up inside the body', bytes: bytes.subarray(0, bytes.length - 5), hangUp: true },
    { name: 'hung up before the answer', bytes, hangUp: true },
  ]
}

/** One of the tricks with a part changed, so that its neighbours are tried too. */
export function cutAttack(random: Random, attacks: readonly FramingAttack[]): FramingAttack | undefined {
  const attack = random.anyOf(attacks)
  // The largest are tried whole, once.
  if (attack === undefined || attack.bytes.length > 30_000) return undefined
  const cuts = Array.from({ length: random.below(4) }, () => random.below(attack.bytes.length + 1)).sort(
    (a, b) => a - b,
  )
  return { ...attack, pauses: cuts, hangUp: random.chance(0.1) }
}
