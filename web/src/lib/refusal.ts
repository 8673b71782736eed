import { notifications } from '@mantine/notifications'

/**
 * Returns a handler that shows an error as a notification, for where nothing else on the page shows it.
 *
 * @param title "Not deleted"
 */
export const notifyOf =
  (title?: string) =>
  ({ message }: Pick<Error, 'message'>): void => {
    notifications.show({ color: 'danger', title, message })
  }
