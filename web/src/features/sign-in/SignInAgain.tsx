import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FocusEvent, type SyntheticEvent, useEffect } from 'react'
import { request } from '../../api/client.ts'
import { mustSignIn, type Session, signedIn } from '../../api/session.ts'
import { ErrorState } from '../../ui/States.tsx'
import { SignInForms } from './SignInPage.tsx'
import classes from './sign-in.module.css'

const open = (dialog: HTMLDialogElement | null) => {
  if (dialog?.open === false) dialog.showModal()
}

/** A dialog on the page below listens for Escape on the window, before this one; it ignores keys of elements with this attribute. */
const keepEscape = ({ target }: FocusEvent<HTMLElement>) => target.setAttribute('data-mantine-stop-propagation', 'true')

/** A popover on the page below closes at a click anywhere else: its question, and why it was refused, would be gone. */
const keepClick = (event: SyntheticEvent) => event.stopPropagation()

/** The sign-in above a page whose session has ended. The page stays, but covered completely: no one may see it without a session. */
export function SignInAgain() {
  const client = useQueryClient()
  // Refetch on focus, because people may have signed in in another tab; with an identity provider that is the only way.
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
    // Closing the dialog would show the page, and the browser lets a second Escape close it: prevent both.
    <dialog
      ref={open}
      className={classes.again}
      aria-label="Your session has ended"
      // A click beside the fields keeps the focus inside the dialog.
      tabIndex={-1}
      onFocusCapture={keepEscape}
      onMouseDown={keepClick}
      onTouchStart={keepClick}
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
