/** The work of a reader of large bodies that dies of some. */
export const tasks = {
  judge: ({ bytes }: { bytes: Uint8Array }): unknown => {
    if (Buffer.from(bytes).includes('deadly')) process.exit(1)
    return { ok: false, path: 'read' }
  },
}
