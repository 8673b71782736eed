import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FocusEvent, useEffect } from 'react'
import { request } from '../../api/client.ts'
import { mustSignIn, type Session, signedIn } from '../../api/session.ts'
import { ErrorState } from '../../ui/States.tsx'
import { SignInForms } from './SignInPage.tsx'
import classes from './sign-in.module.css'

const open = (dialog: HTMLDialogElement | null) => {
  if (dialog?.open === false) dialog.showModal()
}

/** A dialog of the page below listens for Escape on the whole window, before anything here; it passes over keys of elements with this mark. */
const keepEscape = ({ target }: FocusEvent<HTMLElement>) => target.setAttribute('data-mantine-stop-propagation', 'true')

/** The sign-in above a page whose session has ended, which stays as it is. It covers all of it: who is not signed in sees nothing. */
export function SignInAgain() {
  const client = useQueryClient()
  // Someone may have signed in in another tab, which is the only way where an identity provider does it.
  const {
    data: session,
    error,
    refetch,
  } = useQuery({
    queryKey: ['session', 'again'],
    queryFn: ({ signal }) => request<Session>('/api/session', { signal }),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: 'always',
  })
  useEffect(() => {
    if (session !== undefined && !mustSignIn(session)) signedIn(client, session)
  }, [session, client])
  return (
    // A key that closes it would show the page: the browser lets the second Escape through.
    <dialog
      ref={open}
      className={classes.again}
      aria-label="Your session has ended"
      // What is clicked beside its fields leaves the focus in here.
      tabIndex={-1}
      onFocusCapture={keepEscape}
      onCancel={(event) => event.preventDefault()}
      onClose={(event) => event.currentTarget.showModal()}
    >
      {session !== undefined ? (
        <div className={classes.page}>
          <SignInForms session={session} next={null} problem="Your session has ended. What you typed is still there." />
        </div>
      ) : (
        error !== null && <ErrorState error={error} onRetry={() => void refetch()} />
      )}
    </dialog>
  )
}
