/** Why a sign-in with the identity provider came to nothing, by the word that the service puts into the address. */
const PROBLEMS: Readonly<Record<string, string>> = {
  refused: 'The sign-in was cancelled, or your provider did not allow it.',
  expired: 'The sign-in took too long, or was begun in another tab or under another address. Sign in again.',
  provider:
    'Your provider is unavailable, or did not answer as it should. Try again in a moment; the log of Tagwarden has the reason.',
  token:
    'Tagwarden cannot trust what your provider answered. Ask the person who set up Tagwarden: its log has the reason.',
  clock: 'The clocks of your provider and of Tagwarden differ too much. Ask the person who set up Tagwarden.',
  email: 'Your provider gives no verified e-mail address of you. Ask the person who manages it.',
  taken: 'Another account has your e-mail address. Ask an owner.',
  two_step:
    'An account with your e-mail address asks for a code, so your provider does not open it yet. Sign in with your password, turn the second step off, and sign in with your provider once.',
  no_role: 'You are signed in with your provider, but none of your groups has a role here. Ask an owner for one.',
  disabled: 'Your account is disabled. Ask an owner.',
  full: 'There is no room for another account. Ask an owner.',
  busy: 'Too many tries. Wait a minute and try again.',
  service: 'Tagwarden could not finish the sign-in. Try again in a moment; its log has the reason.',
}

/** What to say of a problem; null: there is none that we know. */
export const problemInWords = (problem: string | undefined): string | null =>
  problem !== undefined && Object.hasOwn(PROBLEMS, problem) ? (PROBLEMS[problem] ?? null) : null
