/**
 * Lets a command go on when what it prints cannot be written: a reader such as `head` that has seen enough must not end an `apply`
 * halfway. Any other reason, such as a full disk, is said once and makes the command fail in the end.
 */
export function surviveLostOutput(): void {
  let isSaid = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isSaid) return
    isSaid = true
    console.error(`tagwarden: the output cannot be written: ${error.message}`)
    // At the end, because the command sets its own code when it is done.
    process.once('exit', () => {
      process.exitCode = 1
    })
  })
  process.stderr.on('error', () => undefined)
}
