import { join, sep } from 'node:path'
import type { Plugin } from 'vite'

const SERVER = join(import.meta.dirname, '../../src') + sep

/** Fails the build when code of the server would get into it: the dashboard takes types from there and nothing else. */
export function noServerCode(): Plugin {
  return {
    name: 'tagwarden:no-server-code',
    load(id) {
      if (id.startsWith(SERVER)) this.error(`${id} is the server's: import types from there only ("import type")`)
      return null
    },
  }
}
