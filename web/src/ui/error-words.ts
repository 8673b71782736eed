import { ApiError, UnreachableError } from '../api/client.ts'

/** An error in words: what happened, and what to do. */
export interface ErrorWords {
  title: string
  advice: string
}

/** The messages of Chromium, Firefox and Safari when a module cannot be loaded. */
const NOT_LOADED =
  /dynamically imported module|importing a module script failed|failed to load module script|unable to preload css/i

/** Whether the code of a page could not be loaded. */
export const isNotLoaded = ({ message }: Error): boolean => NOT_LOADED.test(message)

export function explain(error: Error): ErrorWords {
  if (error instanceof UnreachableError) {
    return {
      title: 'Tagwarden cannot be reached',
      advice: 'Check that the service runs and that this device is online. Monitoring continues without this page.',
    }
  }
  if (error instanceof ApiError) return explainAnswer(error)
  if (isNotLoaded(error)) {
    return {
      title: 'A part of this page could not be loaded',
      advice: 'Tagwarden cannot be reached, or was updated meanwhile. Try again, or reload the page.',
    }
  }
  return {
    title: 'This page has a fault',
    advice: `Reload it. If that does not help, send this to the person who runs Tagwarden: "${error.message}"`,
  }
}

function explainAnswer({ code, message }: ApiError): ErrorWords {
  switch (code) {
    case 'not_found':
      return { title: message, advice: 'It may have been deleted, or the link is incomplete.' }
    case 'forbidden':
      return {
        title: 'You may not see this',
        advice: /ask an owner/.test(message) ? `${message}.` : `${message}. Ask an owner for access.`,
      }
    case 'rate_limited':
      return { title: 'Too many requests', advice: `${message}.` }
    case 'unavailable':
      return {
        title: 'Tagwarden cannot answer now',
        advice: 'Its database is busy or unavailable. This page recovers automatically.',
      }
    case 'internal_error':
      return { title: 'Tagwarden hit an internal error', advice: "Try again. The service's log has the details." }
    case 'invalid_request':
      // Pages take their query from their address, so that is what is not valid. The message begins with a JSON pointer.
      return {
        title: 'This cannot be shown',
        advice: `The address of this page is not valid: ${message.replace(/^\//, '')}.`,
      }
    default:
      return { title: 'This cannot be shown', advice: message }
  }
}
