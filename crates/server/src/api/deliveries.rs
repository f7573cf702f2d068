//! Webhooks, for administrators: how far their endpoints are, and the last deliveries.

use super::json;
use crate::deliveries::{Delivery, EndpointState};
use crate::prelude::*;

/// The endpoints of webhooks and the last attempts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeliveryLog {
    /// The endpoints, by name.
    endpoints: Vec<EndpointState>,
    /// The last 200 attempts, the newest first.
    deliveries: Vec<Delivery>,
}

/// Lists the endpoints of webhooks, each with the position in the log up to which it has all events, and the last deliveries.
#[utoipa::path(get, operation_id = "list_deliveries", path = "/v1/deliveries", tag = "server", security(("key" = ["admin"])), responses(
    (status = 200, body = DeliveryLog)))]
pub(crate) async fn list(State(app): State<Arc<App>>, caller: Caller) -> Answer {
    caller.may(&Act::ReadDeliveries)?;
    let (endpoints, deliveries) = (app.deliveries.endpoints(), app.deliveries.attempts());
    json(StatusCode::OK, &DeliveryLog { endpoints, deliveries })
}
