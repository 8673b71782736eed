import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { noServerCode } from './build/no-server-code.ts'
import { precompress } from './build/precompress.ts'

const SERVER = process.env.TAGWARDEN_URL ?? 'http://127.0.0.1:8080'

/** `vite build web` makes what the server serves; `vite web` is for working on it, beside a running Tagwarden. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), noServerCode(), precompress()],
  build: {
    outDir: join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    // A file inlined as a data: address would need a hole in the Content-Security-Policy.
    assetsInlineLimit: 0,
    // The polyfill is an inline script, which the policy forbids, for browsers that we do not aim at.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Parts that many pages have come as one file: seventy of a few hundred bytes each kept a first visit waiting for half a second.
        codeSplitting: { groups: [{ name: 'shared', minShareCount: 5 }] },
      },
    },
    manifest: true,
    // Whose work is in it, with the texts of their licences: the package hands both on.
    license: { fileName: '.vite/licences.json' },
  },
  server: { proxy: { '/api': SERVER } },
})
