import { notifications } from '@mantine/notifications'

/** Shows an error that nothing else on the page shows. */
export const showError = (error: Error): void => {
  notifications.show({ color: 'danger', message: error.message })
}
