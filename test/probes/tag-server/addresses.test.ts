import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gtmJsUrl, healthEndpoints, shownAddress, urlAt } from '../../../src/probes/tag-server/addresses.ts'

const ENDPOINTS: readonly [
  url: string,
  override: string | undefined,
  remembered: string | undefined,
  paths: string[],
][] = [
  ['https://sst.example', undefined, undefined, ['/healthy', '/healthz', '/']],
  ['https://sst.example/', undefined, undefined, ['/healthy', '/healthz', '/']],
  ['https://example.com/metrics/', undefined, undefined, ['/metrics/healthy', '/metrics/healthz', '/metrics/']],
  ['https://example.com/a/b?c=d#e', undefined, undefined, ['/a/b/healthy', '/a/b/healthz', '/a/b?c=d']],
  ['https://sst.example', undefined, '/healthz', ['/healthz', '/healthy', '/']],
  ['https://sst.example', undefined, '/', ['/healthy', '/healthz', '/']],
  ['https://sst.example', undefined, '/of/another/address', ['/healthy', '/healthz', '/']],
  ['https://sst.example/a', '/own', '/a/healthy', ['/own']],
]
for (const [url, override, remembered, paths] of ENDPOINTS) {
  test(`${url} has its health at ${paths.join(', ')}${override ?? remembered ?? ''}`, () => {
    const endpoints = healthEndpoints(url, override, remembered)
    assert.deepEqual(
      endpoints.map(({ path }) => path),
      paths,
    )
  })
}

const URLS: readonly [path: string, url: string][] = [
  ['/healthy', 'https://sst.example:8443/healthy'],
  ['/a?b=c?d', 'https://sst.example:8443/a?b=c?d'],
  ['//other.example/a', 'https://sst.example:8443//other.example/a'],
  ['/\\other.example', 'https://sst.example:8443//other.example'],
  ['/../../a', 'https://sst.example:8443/a'],
  ['/@other.example', 'https://sst.example:8443/@other.example'],
]
for (const [path, url] of URLS) {
  test(`${path} stays on the tag server’s host`, () => {
    assert.equal(urlAt('https://sst.example:8443/x?y=z#w', path), url)
  })
}

test('gtm.js is behind the prefix', () => {
  assert.equal(gtmJsUrl('https://example.com/m/', 'GTM-WEB1234'), 'https://example.com/m/gtm.js?id=GTM-WEB1234')
})

test('what is shown of an address has no query', () => {
  assert.equal(shownAddress('https://sst.example:8443/a?key=s3cret#b'), 'sst.example:8443/a')
  assert.equal(shownAddress('nothing'), 'another address')
})
