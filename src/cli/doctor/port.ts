import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../../config.ts'
import { asError, SECOND } from '../../lib/index.ts'
import type { DoctorFinding } from './doctor-finding.ts'

const TIMEOUT_MS = 4 * SECOND

/** Whether the service could listen, or does. Listens for a moment. */
export async function portFinding({ host, port }: Config): Promise<DoctorFinding> {
  const check = 'port'
  const where = `HOST=${host} PORT=${port}`
  const code = await whyNotListening(host, port)
  if (code === null) return { check, level: 'ok', text: `${where} is free` }
  if (code === 'EADDRINUSE') {
    if (await isTagwarden(localAddress(host, port))) {
      return { check, level: 'ok', text: `${where} is where a Tagwarden runs` }
    }
    const text = `${where} is in use by another program: stop it, or choose another PORT`
    return { check, level: 'failed', text }
  }
  return { check, level: 'failed', text: `cannot listen on ${where}: ${ADVICE[code] ?? code}` }
}

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'this user may not have that port: choose one from 1024 on, and let the proxy have 443',
  EADDRNOTAVAIL: 'this machine does not have that address: set HOST to one that it has',
  ENOTFOUND: 'that name leads nowhere: set HOST to an address of this machine',
  EAI_AGAIN: 'that name cannot be looked up: set HOST to an address of this machine',
}

async function whyNotListening(host: string, port: number): Promise<string | null> {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
    return null
  } catch (thrown) {
    const error = asError(thrown)
    return 'code' in error && typeof error.code === 'string' ? error.code : error.message
  }
}

async function isTagwarden(address: string): Promise<boolean> {
  try {
    const answer = await fetch(`${address}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    return (await answer.text()).includes('tagwarden_info{')
  } catch {
    return false
  }
}

/** Where a service on this machine answers that listens on `host`. */
export function localAddress(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}
