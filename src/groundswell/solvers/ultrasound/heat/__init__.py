"""Heat that a beam deposits in tissue: temperatures by Pennes' equation, and the thermal dose."""
