import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLocalHost, isOwnOrigin } from '../../src/http/access/origin.ts'

const PUBLIC = 'https://tagwarden.example.com/base'

const ORIGINS: [origin: string, host: string, publicUrl: string | null, isOwn: boolean][] = [
  ['https://tagwarden.example.com', '10.0.0.5:8080', PUBLIC, true],
  ['https://tagwarden.example.com:443', '10.0.0.5:8080', PUBLIC, true],
  ['http://tagwarden.example.com', '10.0.0.5:8080', PUBLIC, false],
  ['https://tagwarden.example.com:8443', '10.0.0.5:8080', PUBLIC, false],
  ['https://evil.example', '10.0.0.5:8080', PUBLIC, false],
  ['https://tagwarden.example.com.evil.example', 'tagwarden.example.com', PUBLIC, false],
  ['http://127.0.0.1:8080', '127.0.0.1:8080', null, true],
  ['http://127.0.0.1:3000', '127.0.0.1:8080', null, false],
  ['http://localhost:8080', '127.0.0.1:8080', null, false],
  ['https://proxied.example', 'proxied.example', null, true],
  ['https://proxied.example', 'proxied.example:443', null, true],
  ['null', '127.0.0.1:8080', null, false],
  ['', '127.0.0.1:8080', null, false],
  ['file://', '127.0.0.1:8080', null, false],
  ['chrome-extension://127.0.0.1:8080', '127.0.0.1:8080', null, false],
]
for (const [origin, host, publicUrl, isOwn] of ORIGINS) {
  test(`a page of "${origin}" is ${isOwn ? 'ours' : 'foreign'} at ${host} with PUBLIC_URL ${publicUrl}`, () => {
    assert.equal(isOwnOrigin(origin, host, publicUrl), isOwn)
  })
}

const HOSTS: [host: string, isLocal: boolean][] = [
  ['127.0.0.1:8080', true],
  ['192.168.1.5', true],
  ['[::1]:8080', true],
  ['localhost:8080', true],
  ['LOCALHOST', true],
  ['app.localhost:8080', true],
  ['tagwarden.example.com', true],
  ['', true],
  ['evil.example:8080', false],
  ['localhost.evil.example', false],
  ['127.0.0.1.evil.example', false],
  ['evil.example/localhost', false],
  ['[', false],
]
for (const [host, isLocal] of HOSTS) {
  test(`the host "${host}" is ${isLocal ? 'a name' : 'no name'} of this service`, () => {
    assert.equal(isLocalHost(host, PUBLIC), isLocal)
  })
}
